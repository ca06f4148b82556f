# SPDX-License-Identifier: BSD-2-Clause
"""Send a text to the consumer of comch_data_path_server, in Python or C."""
import sample

import pier


def main() -> None:
    """Print its greeting, and send by a producer."""
    parser = sample.channel_arguments(__doc__)
    parser.add_argument("-sa", "--server-addr", dest="address")
    args = parser.parse_args()
    with pier.Device(args.device) as dev, pier.Engine() as engine, \
            dev.register(args.text.encode(), pier.Access.LOCAL_READ) as text, \
            pier.ComchClient(engine, dev, "comch_data_path_sample_server",
                             args.address) as client:
        conn = client.connection().wait()
        print(f'received "{conn.receive().wait().decode()}"')
        consumer = conn.consumer().wait()
        with pier.ComchProducer(conn) as producer:
            producer.send(text, consumer).wait()
    print(f'sent "{args.text}"')


main()
