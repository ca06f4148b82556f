/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_FOREIGN_FOREIGN_H
#define PIER_T_FOREIGN_FOREIGN_H

#include <pier/pier.h>

/*
 * Connections to programs that do not use pier, by the public calls, as a
 * program has them that connects to such peers.  Synchronous: each call waits,
 * a failure ends the program with an error message.
 */
#define FOREIGN_MEM 65536	/* of each of the two halves of mem */
#define FOREIGN_MSG 4096	/* longest message taken in */

struct foreign_message {
	struct pier_conn *conn;
	size_t len;
	uint8_t data[FOREIGN_MSG];
};

struct foreign {
	struct pier_dev *dev;
	struct pier_pe *pe;
	struct pier_rdma *rdma;
	struct pier_mmap *mmap;		/* of mem, all rights */
	struct pier_buf_inventory *inv;
	uint8_t *mem;
	struct pier_listener *listener;
	struct pier_conn *request;	/* reported, not taken */
};

/* The options of the command line. */
struct foreign_args {
	const char *device, *source, *peer;
	uint32_t port;
	int count;		/* messages */
	uint32_t size;		/* bytes of each */
	int pier;		/* the peer uses pier after all */
};

void foreign_open(struct foreign *f, const char *device);
void foreign_close(struct foreign *f);

/* End the program if @err, with @what and the error message. */
void foreign_check(int err, const char *what);

/* Progress, for a while at most; call it in a loop that waits. */
void foreign_turn(struct foreign *f);

/* Connect, as often as it is refused; accept who comes. */
struct pier_conn *foreign_connect(struct foreign *f,
				  const struct foreign_args *args);
struct pier_conn *foreign_accept(struct foreign *f,
				 const struct foreign_args *args);

/* The next message of @conn, which must have @len bytes. */
void foreign_recv(struct foreign *f, struct pier_conn *conn, void *data,
		  size_t len);
void foreign_send(struct foreign *f, struct pier_conn *conn, const void *data,
		  size_t len);

/* @len bytes between mem at @at and @addr of the peer under @rkey. */
void foreign_read(struct foreign *f, struct pier_conn *conn, size_t at,
		  uint64_t addr, uint32_t rkey, size_t len);
void foreign_write(struct foreign *f, struct pier_conn *conn, size_t at,
		   uint64_t addr, uint32_t rkey, size_t len);

/* The key by which peers reach mem. */
uint32_t foreign_key(struct foreign *f);

/* Wait until the peer has ended @conn. */
void foreign_await_end(struct foreign *f, struct pier_conn *conn);

/* Wait for a request, which is the caller's to answer. */
struct pier_conn *foreign_listen(struct foreign *f,
				 const struct foreign_args *args);

/* Wait until @conn is connected.  Returns 0 or why not. */
int foreign_await(struct foreign *f, struct pier_conn *conn);

/* The programs that are spoken to. */
void foreign_rping_client(struct foreign *f, const struct foreign_args *args);
void foreign_rping_server(struct foreign *f, const struct foreign_args *args);
void foreign_data_client(struct foreign *f, const struct foreign_args *args);
void foreign_data_server(struct foreign *f, const struct foreign_args *args,
			 int reject);
void foreign_slow_server(struct foreign *f, const struct foreign_args *args);
void foreign_many_client(struct foreign *f, const struct foreign_args *args);
void foreign_many_server(struct foreign *f, const struct foreign_args *args);
void foreign_perftest(struct foreign *f, const struct foreign_args *args,
		      const char *verb);

#endif
