# SPDX-License-Identifier: BSD-2-Clause
"""Answer a message of comch_ctrl_path_client, in Python or C."""
import sample

import pier


def main() -> None:
    """One client, one message, one answer."""
    parser = sample.channel_arguments(__doc__)
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
