/* SPDX-License-Identifier: BSD-2-Clause */
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "t/foreign/foreign.h"

/*
 * The protocol of rping(1) of rdmacm-utils: the client sends where its text
 * is, the server reads it and sends "go on", receives where to write it back,
 * writes it and sends "go on".
 */
struct range {
	uint64_t addr;		/* big endian, as all of it */
	uint32_t rkey, len;
};

static void tell_range(struct foreign *f, struct pier_conn *conn, size_t at,
		       uint32_t len)
{
	struct range range = {
		.addr = htobe64((uintptr_t)(f->mem + at)),
		.rkey = htobe32(foreign_key(f)),
		.len = htobe32(len),
	};

	foreign_send(f, conn, &range, sizeof(range));
}

static void recv_range(struct foreign *f, struct pier_conn *conn,
		       struct range *ret)
{
	foreign_recv(f, conn, ret, sizeof(*ret));
	ret->addr = be64toh(ret->addr);
	ret->rkey = be32toh(ret->rkey);
	ret->len = be32toh(ret->len);
}

static void ping(struct foreign *f, struct pier_conn *conn, uint32_t size,
		 int number)
{
	char *text = (char *)f->mem;
	struct range go;
	int len = snprintf(text, size, "rdma-ping-%d: ", number);

	for (uint32_t i = (uint32_t)len; i + 1 < size; i++)
		text[i] = (char)('A' + (i + (uint32_t)number) % 58);
	text[size - 1] = '\0';
	memset(f->mem + FOREIGN_MEM, 0, size);
	tell_range(f, conn, 0, size);
	foreign_recv(f, conn, &go, sizeof(go));
	tell_range(f, conn, FOREIGN_MEM, size);
	foreign_recv(f, conn, &go, sizeof(go));
	if (memcmp(f->mem, f->mem + FOREIGN_MEM, size)) {
		fprintf(stderr, "foreign: ping %d came back changed\n",
			number);
		exit(1);
	}
}

void foreign_rping_client(struct foreign *f, const struct foreign_args *args)
{
	struct pier_conn *conn = foreign_connect(f, args);

	for (int i = 0; i < args->count; i++)
		ping(f, conn, args->size, i);
	foreign_check(pier_conn_disconnect(conn), "disconnect");
	printf("%d pings\n", args->count);
}

void foreign_rping_server(struct foreign *f, const struct foreign_args *args)
{
	struct pier_conn *conn = foreign_accept(f, args);
	struct range range, go = { 0 };

	for (int i = 0; i < args->count; i++) {
		recv_range(f, conn, &range);
		if (range.len > FOREIGN_MEM) {
			fprintf(stderr, "foreign: a ping of %u bytes\n",
				range.len);
			exit(1);
		}
		foreign_read(f, conn, 0, range.addr, range.rkey, range.len);
		foreign_send(f, conn, &go, sizeof(go));
		recv_range(f, conn, &range);
		foreign_write(f, conn, 0, range.addr, range.rkey, range.len);
		foreign_send(f, conn, &go, sizeof(go));
	}
	foreign_await_end(f, conn);
	printf("%d pings\n", args->count);
}
