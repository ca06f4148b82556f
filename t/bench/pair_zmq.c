/* SPDX-License-Identifier: BSD-2-Clause */
/* ZeroMQ: sockets of type PAIR. */
#include <stdlib.h>
#include <string.h>

#include <zmq.h>

#include "bench/pair_lib.h"
#include "bench/procs.h"

static void *the_socket;

static void must(const char *what, int result)
{
	if (result < 0)
		proc_die("zmq: %s: %s", what, zmq_strerror(zmq_errno()));
}

static void open_socket(void)
{
	the_socket = zmq_socket(zmq_ctx_new(), ZMQ_PAIR);
	if (!the_socket)
		proc_die("zmq: no socket");
}

static void listen_zmq(int wire)
{
	char address[64];
	size_t len = sizeof(address);

	open_socket();
	must("bind", zmq_bind(the_socket, "tcp://127.0.0.1:*"));
	must("address", zmq_getsockopt(the_socket, ZMQ_LAST_ENDPOINT, address,
				       &len));
	proc_put(wire, address, len);
}

static void dial_zmq(int wire)
{
	char address[64];

	proc_get(wire, address, sizeof(address));
	open_socket();
	must("connect", zmq_connect(the_socket, address));
}

static void nothing(void *data, void *hint)
{
	(void)data;
	(void)hint;
}

static void send_zmq(size_t len)
{
	static char *memory;
	static size_t size;
	zmq_msg_t message;

	if (len > size) {
		memory = calloc(1, len);
		size = len;
		if (!memory)
			proc_die("no memory");
	}
	if (len < 64) {		/* these it keeps in the message */
		must("message", zmq_msg_init_size(&message, len));
		memcpy(zmq_msg_data(&message), memory, len);
	} else {
		must("message", zmq_msg_init_data(&message, memory, len,
						  nothing, NULL));
	}
	must("send", zmq_msg_send(&message, the_socket, 0));
}

static size_t receive_zmq(void)
{
	zmq_msg_t message;
	size_t len;

	must("message", zmq_msg_init(&message));
	must("receive", zmq_msg_recv(&message, the_socket, 0));
	len = zmq_msg_size(&message);
	must("close", zmq_msg_close(&message));
	return len;
}

const struct pair_lib pair_lib = {
	.listen = listen_zmq,
	.dial = dial_zmq,
	.send = send_zmq,
	.receive = receive_zmq,
};
