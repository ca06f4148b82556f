/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_BENCH_PROCS_H
#define PIER_T_BENCH_PROCS_H

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
 *	BENCH_FREE		if it is there, on whichever cores
 *
 * What goes wrong ends the process with an error message.
 */
enum proc {
	PROC_A,			/* measures and prints */
	PROC_B,
};

/* What the other process does; @fd is a wire to who forked it. */
typedef void proc_fn(int fd, void *arg);

/* Become @proc. */
void proc_be(enum proc proc);

/*
 * Fork a process that is @proc and runs @fn.  It ends with its parent.
 * Returns the wire.
 */
int proc_fork(enum proc proc, proc_fn *fn, void *arg);

/* Whole blobs over a wire. */
void proc_put(int fd, const void *data, size_t len);
size_t proc_get(int fd, void *data, size_t size);

/* The address of @proc with @port. */
struct sockaddr_in proc_addr(enum proc proc, uint16_t port);

/* A UDP socket bound to the address of @proc; its name goes to @ret. */
int proc_udp(enum proc proc, struct sockaddr_in *ret);

/* Microseconds of the monotonic clock. */
double proc_now(void);

/* The median of @count figures, which are sorted. */
double proc_median(double *figures, size_t count);

/* Print "MEDIAN AVERAGE" of @count figures, which are sorted. */
void proc_print(double *figures, size_t count);

void __attribute__((noreturn, format(printf, 1, 2)))
proc_die(const char *fmt, ...);

#endif
