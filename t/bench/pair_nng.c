/* SPDX-License-Identifier: BSD-2-Clause */
/* NNG: sockets of its protocol pair, version 0. */
#include <stdio.h>
#include <string.h>

#include <nng/nng.h>
#include <nng/protocol/pair0/pair.h>
#include <nng/transport/tcp/tcp.h>

#include "bench/pair_lib.h"
#include "bench/procs.h"

#define QUEUE 64		/* messages, on either side */

static nng_socket the_socket;

static void must(const char *what, int error)
{
	if (error)
		proc_die("nng: %s: %s", what, nng_strerror(error));
}

static void open_socket(void)
{
	must("open", nng_pair0_open(&the_socket));
	must("queue", nng_socket_set_int(the_socket, NNG_OPT_SENDBUF, QUEUE));
	must("queue", nng_socket_set_int(the_socket, NNG_OPT_RECVBUF, QUEUE));
	must("size", nng_socket_set_size(the_socket, NNG_OPT_RECVMAXSZ, 0));
}

static void listen_nng(int wire)
{
	nng_listener listener;
	char address[64];
	int port;

	open_socket();
	must("listen", nng_listen(the_socket, "tcp://127.0.0.1:0", &listener,
				  0));
	must("port", nng_listener_get_int(listener, NNG_OPT_TCP_BOUND_PORT,
					  &port));
	snprintf(address, sizeof(address), "tcp://127.0.0.1:%d", port);
	proc_put(wire, address, strlen(address) + 1);
}

static void dial_nng(int wire)
{
	char address[64];

	proc_get(wire, address, sizeof(address));
	open_socket();
	must("dial", nng_dial(the_socket, address, NULL, 0));
}

static void send_nng(size_t len)
{
	nng_msg *message;

	must("message", nng_msg_alloc(&message, len));
	must("send", nng_sendmsg(the_socket, message, 0));
}

static size_t receive_nng(void)
{
	nng_msg *message;
	size_t len;

	must("receive", nng_recvmsg(the_socket, &message, 0));
	len = nng_msg_len(message);
	nng_msg_free(message);
	return len;
}

const struct pair_lib pair_lib = {
	.listen = listen_nng,
	.dial = dial_nng,
	.send = send_nng,
	.receive = receive_nng,
};
