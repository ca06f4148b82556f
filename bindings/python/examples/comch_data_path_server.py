# SPDX-License-Identifier: BSD-2-Clause
"""Greet comch_data_path_client, in Python or C, and receive by a consumer."""
import sample

import pier

SIZE = 1 << 20


def main() -> None:
    """One client, one message, as long as the memory of the consumer."""
    parser = sample.channel_arguments(__doc__)
    args = parser.parse_args()
    with pier.Device(args.device) as dev, pier.Engine() as engine, \
            pier.Mmap.allocate(dev, SIZE) as memory, \
            pier.ComchServer(engine, dev,
                             "comch_data_path_sample_server") as server:
        conn = server.connection().wait()
        with pier.ComchConsumer(conn, memory) as consumer:
            greeting = conn.send(args.text.encode())
            consumer.ready().wait()
            message = consumer.receive(memory).wait()
            greeting.wait()
        text = bytes(memory[:len(message)]).decode()
    print(f'sent "{args.text}"\nreceived "{text}"')


main()
