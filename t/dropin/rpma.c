/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A client and a server on librpma: the client writes into memory of the server
 * and flushes that, reads it again and compares it, and sends a message; the
 * server compares what it has then.
 *
 * usage: rpma ADDRESS PORT server|client
 */
#include <librpma.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZE 100000
#define FIRST (SIZE / 2)		/* what the client writes at once */
#define ALWAYS RPMA_F_COMPLETION_ALWAYS

static const char text[] = "all is written";

struct rpma_end {
	struct rpma_peer *peer;
	struct rpma_mr_local *region;
	struct rpma_mr_local *note_region;
	struct rpma_conn *conn;
	uint8_t *memory;
	char note[64];
};

static void must(const char *what, int err)
{
	if (!err)
		return;
	fprintf(stderr, "%s: %s\n", what, rpma_err_2str(err));
	exit(1);
}

static uint8_t pattern(int i)
{
	return (uint8_t)(i * 7 + i / 256);
}

static void compare(const uint8_t *memory)
{
	int i;

	for (i = 0; i < SIZE; i++) {
		if (memory[i] == pattern(i))
			continue;
		fprintf(stderr, "byte %d is %u\n", i, memory[i]);
		exit(1);
	}
	puts("compared");
}

static void open_end(struct rpma_end *end, const char *address, bool client)
{
	int kind = client ? RPMA_UTIL_IBV_CONTEXT_REMOTE :
			    RPMA_UTIL_IBV_CONTEXT_LOCAL;
	struct ibv_context *context;

	must("device", rpma_utils_get_ibv_context(address, kind, &context));
	must("peer", rpma_peer_new(context, &end->peer));
	end->memory = calloc(1, SIZE);
	if (!end->memory)
		abort();
	must("region",
	     rpma_mr_reg(end->peer, end->memory, SIZE,
			 RPMA_MR_USAGE_WRITE_DST | RPMA_MR_USAGE_WRITE_SRC |
				 RPMA_MR_USAGE_READ_DST |
				 RPMA_MR_USAGE_READ_SRC |
				 RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY,
			 &end->region));
	must("region of messages",
	     rpma_mr_reg(end->peer, end->note, sizeof(end->note),
			 RPMA_MR_USAGE_SEND | RPMA_MR_USAGE_RECV,
			 &end->note_region));
}

static void expect(struct rpma_end *end, enum rpma_conn_event wanted)
{
	enum rpma_conn_event event;

	must("event", rpma_conn_next_event(end->conn, &event));
	if (event == wanted)
		return;
	fprintf(stderr, "event: %s\n", rpma_utils_conn_event_2str(event));
	exit(1);
}

/* The next completion, which is a success. */
static void completed(struct rpma_end *end)
{
	struct rpma_cq *cq;
	struct ibv_wc wc;

	must("queue", rpma_conn_get_cq(end->conn, &cq));
	must("wait", rpma_cq_wait(cq));
	must("completion", rpma_cq_get_wc(cq, 1, &wc, NULL));
	if (wc.status == IBV_WC_SUCCESS)
		return;
	fprintf(stderr, "completion: %s\n", ibv_wc_status_str(wc.status));
	exit(1);
}

static void serve(struct rpma_end *end, const char *address, const char *port)
{
	struct rpma_conn_private_data data;
	struct rpma_conn_req *request;
	struct rpma_ep *ep;
	uint8_t descriptor[64];
	size_t len;

	must("size", rpma_mr_get_descriptor_size(end->region, &len));
	if (len > sizeof(descriptor))
		abort();
	must("descriptor", rpma_mr_get_descriptor(end->region, descriptor));
	data.ptr = descriptor;
	data.len = (uint8_t)len;
	must("listen", rpma_ep_listen(end->peer, address, port, &ep));
	must("request", rpma_ep_next_conn_req(ep, NULL, &request));
	must("receive", rpma_conn_req_recv(request, end->note_region, 0,
					   sizeof(end->note), NULL));
	must("accept", rpma_conn_req_connect(&request, &data, &end->conn));
	expect(end, RPMA_CONN_ESTABLISHED);
	completed(end);
	compare(end->memory);
	puts(strcmp(end->note, text) ? "another text" : text);
	expect(end, RPMA_CONN_CLOSED);
	must("disconnect", rpma_conn_disconnect(end->conn));
	must("end of the connection", rpma_conn_delete(&end->conn));
	must("shutdown", rpma_ep_shutdown(&ep));
}

static void move_memory(struct rpma_end *end, struct rpma_mr_remote *remote)
{
	must("write", rpma_write(end->conn, remote, 0, end->region, 0, FIRST,
				 RPMA_F_COMPLETION_ON_ERROR, NULL));
	must("write", rpma_write(end->conn, remote, FIRST, end->region, FIRST,
				 SIZE - FIRST, RPMA_F_COMPLETION_ON_ERROR,
				 NULL));
	must("flush", rpma_flush(end->conn, remote, 0, SIZE,
				 RPMA_FLUSH_TYPE_VISIBILITY, ALWAYS, NULL));
	completed(end);
	memset(end->memory, 0, SIZE);
	must("read", rpma_read(end->conn, end->region, 0, remote, 0, SIZE,
			       ALWAYS, NULL));
	completed(end);
	compare(end->memory);
}

static void ask(struct rpma_end *end, const char *address, const char *port)
{
	struct rpma_conn_private_data data;
	struct rpma_mr_remote *remote;
	struct rpma_conn_req *request;
	int i;

	for (i = 0; i < SIZE; i++)
		end->memory[i] = pattern(i);
	must("request",
	     rpma_conn_req_new(end->peer, address, port, NULL, &request));
	must("connect", rpma_conn_req_connect(&request, NULL, &end->conn));
	expect(end, RPMA_CONN_ESTABLISHED);
	must("data", rpma_conn_get_private_data(end->conn, &data));
	must("remote", rpma_mr_remote_from_descriptor(data.ptr, data.len,
						      &remote));
	move_memory(end, remote);
	memcpy(end->note, text, sizeof(text));
	must("send", rpma_send(end->conn, end->note_region, 0, sizeof(text),
			       ALWAYS, NULL));
	completed(end);
	must("end of the region", rpma_mr_remote_delete(&remote));
	must("disconnect", rpma_conn_disconnect(end->conn));
	expect(end, RPMA_CONN_CLOSED);
	must("end of the connection", rpma_conn_delete(&end->conn));
}

int main(int argc, char **argv)
{
	struct rpma_end end = { 0 };
	bool client;

	if (argc != 4)
		return 2;
	client = !strcmp(argv[3], "client");
	open_end(&end, argv[1], client);
	if (client)
		ask(&end, argv[1], argv[2]);
	else
		serve(&end, argv[1], argv[2]);
	must("end of a region", rpma_mr_dereg(&end.note_region));
	must("end of a region", rpma_mr_dereg(&end.region));
	must("end of the peer", rpma_peer_delete(&end.peer));
	free(end.memory);
	return 0;
}
