/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_BENCH_SIDES_H
#define PIER_T_BENCH_SIDES_H

#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The sides of a measurement: processes forked from one, each on a core, A on
 * the first and B on the second that the machine lets us have, and each in the
 * network namespace that the environment names, or in our own:
 *
 *	BENCH_NS_A, BENCH_NS_B	files of namespaces, with commas between
 *	BENCH_IP_A, BENCH_IP_B	IPv4 addresses there, 127.0.0.1 without
 *
 * What goes wrong ends the process with a sentence.
 */
enum side {
	SIDE_A,			/* measures and prints */
	SIDE_B,
};

/* What the other process does; @fd is a wire to who forked it. */
typedef void side_fn(int fd, void *arg);

/* Become @side. */
void side_be(enum side side);

/*
 * Fork a process that is @side and runs @fn.  It ends with its parent.
 * Returns the wire.
 */
int side_fork(enum side side, side_fn *fn, void *arg);

/* Whole blobs over a wire. */
void side_put(int fd, const void *data, size_t len);
size_t side_get(int fd, void *data, size_t size);

/* The address of @side with @port. */
struct sockaddr_in side_addr(enum side side, uint16_t port);

/* A UDP socket bound to the address of @side; its name goes to @ret. */
int side_udp(enum side side, struct sockaddr_in *ret);

/* Microseconds of the monotonic clock. */
double side_now(void);

/* Print "MEDIAN AVERAGE" of @count figures, which are sorted. */
void side_print(double *figures, size_t count);

void __attribute__((noreturn, format(printf, 1, 2)))
side_die(const char *fmt, ...);

#endif
