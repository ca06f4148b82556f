# SPDX-License-Identifier: BSD-2-Clause
"""Send a message to comch_ctrl_path_server, in Python or C."""
import sample

import pier


def main() -> None:
    """Send it, and wait for the answer."""
    parser = sample.channel_arguments(__doc__)
    parser.add_argument("-sa", dest="address")
    args = parser.parse_args()
    with pier.Device(args.device) as dev, pier.Engine() as engine, \
            pier.ComchClient(engine, dev, "comch_ctrl_path_sample_server",
                             args.address) as client:
        conn = client.connection().wait()
        conn.send(args.text.encode())
        print(f'sent "{args.text}", received '
              f'"{conn.receive().wait().decode()}"')
        conn.disconnect()


main()
