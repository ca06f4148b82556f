/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <endian.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "t/foreign/foreign.h"

/*
 * What ib_send_lat, ib_write_lat and ib_read_lat of perftest 4.5 do with -R.
 * A first connection is for messages: version, sizes, MTU, and then "hands"
 * with the address of memory, which also keep both sides in step.  Between
 * the first and the second pair of hands a second connection is made to the
 * same port, on which the operations run.  The client speaks first.
 */
struct hand {
	uint32_t lid, out_reads, qpn, psn, rkey, pad;	/* big endian */
	uint64_t vaddr;					/* big endian */
	uint8_t gid[16];
	uint32_t srqn, gid_index;
};

struct perf {
	struct foreign *f;
	struct pier_conn *control, *data;
	bool client;
	struct hand theirs;
};

/* Send @mine, receive @theirs, of @len bytes both; the client sends first. */
static void exchange(struct perf *p, const void *mine, void *theirs,
		     size_t len)
{
	if (p->client)
		foreign_send(p->f, p->control, mine, len);
	foreign_recv(p->f, p->control, theirs, len);
	if (!p->client)
		foreign_send(p->f, p->control, mine, len);
}

static void exchange_settings(struct perf *p)
{
	char version[16] = "6.06", their_version[16];
	uint32_t cycle = htonl(4096), line = htonl(64), theirs;
	char mtu[2] = "3", their_mtu[2];	/* enum ibv_mtu as a digit */

	exchange(p, version, their_version, sizeof(version));
	exchange(p, &cycle, &theirs, sizeof(cycle));
	exchange(p, &line, &theirs, sizeof(line));
	exchange(p, mtu, their_mtu, sizeof(mtu));
	printf("perftest %.15s\n", their_version);
}

/* Peers write to, and read from, the second half of our memory. */
static void shake_hands(struct perf *p)
{
	struct hand mine = {
		.rkey = htobe32(foreign_key(p->f)),
		.vaddr = htobe64((uintptr_t)(p->f->mem + FOREIGN_MEM)),
		.out_reads = htobe32(1),
	};

	exchange(p, &mine, &p->theirs, sizeof(mine));
}

static struct pier_conn *meet(struct perf *p, const struct foreign_args *args)
{
	return p->client ? foreign_connect(p->f, args) :
			   foreign_accept(p->f, args);
}

static void run_send(struct perf *p, const struct foreign_args *args)
{
	uint8_t *msg = calloc(1, FOREIGN_MSG);

	for (int i = 0; i < args->count; i++) {
		if (p->client)
			foreign_send(p->f, p->data, msg, args->size);
		foreign_recv(p->f, p->data, msg, args->size);
		if (!p->client)
			foreign_send(p->f, p->data, msg, args->size);
	}
	free(msg);
}

static void await_byte(struct foreign *f, const volatile uint8_t *byte,
		       uint8_t value)
{
	while (*byte != value)
		foreign_check(pier_pe_progress(f->pe, 0), "progress");
}

/* The last byte of a message is its number.  The server begins. */
static void run_write(struct perf *p, const struct foreign_args *args)
{
	uint8_t *out = p->f->mem + args->size - 1;
	const volatile uint8_t *in = out + FOREIGN_MEM;

	for (int i = 1; i <= args->count; i++) {
		if (p->client)
			await_byte(p->f, in, (uint8_t)i);
		*out = (uint8_t)i;
		foreign_write(p->f, p->data, 0, be64toh(p->theirs.vaddr),
			      be32toh(p->theirs.rkey), args->size);
		if (!p->client)
			await_byte(p->f, in, (uint8_t)i);
	}
}

static void run_read(struct perf *p, const struct foreign_args *args)
{
	for (int i = 0; p->client && i < args->count; i++)
		foreign_read(p->f, p->data, 0, be64toh(p->theirs.vaddr),
			     be32toh(p->theirs.rkey), args->size);
}

void foreign_perftest(struct foreign *f, const struct foreign_args *args,
		      const char *verb)
{
	struct perf p = { .f = f, .client = args->peer };

	p.control = meet(&p, args);
	exchange_settings(&p);
	shake_hands(&p);
	p.data = meet(&p, args);
	for (int i = 0; i < 5; i++)
		shake_hands(&p);
	if (!strcmp(verb, "send"))
		run_send(&p, args);
	else if (!strcmp(verb, "write"))
		run_write(&p, args);
	else
		run_read(&p, args);
	if (strcmp(verb, "write"))
		shake_hands(&p);
	/* Both sides disconnect, in either order. */
	pier_conn_disconnect(p.data);
	pier_conn_disconnect(p.control);
	printf("%d of %s\n", args->count, verb);
}
