# SPDX-License-Identifier: BSD-2-Clause
"""Answer a message of comch_ctrl_path_client, in Python or C."""
import argparse

import in_tree  # noqa: F401  pylint: disable=unused-import
import pier


def main() -> None:
    """One client, one message, one answer."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-p", dest="device")
    parser.add_argument("-t", dest="text", default="Hi DOCA RDMA!")
    args = parser.parse_args()
    with pier.Device(args.device) as dev, pier.Engine() as engine, \
            pier.ComchServer(engine, dev,
                             "comch_ctrl_path_sample_server") as server:
        conn = server.connection().wait()
        print(f'received "{conn.receive().wait().decode()}"', flush=True)
        conn.send(args.text.encode()).wait()
        try:
            conn.receive().wait()
        except pier.PierConnectionError:
            print(f'sent "{args.text}"')


main()
