/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_BENCH_PAIR_LIB_H
#define PIER_T_BENCH_PAIR_LIB_H

#include <stddef.h>

/*
 * Another library of messages, for pair_load.c: a pair of sockets over TCP on
 * loopback.  What goes wrong ends the process with an error message.
 */
struct pair_lib {
	void (*listen)(int wire);	/* and put the address on it */
	void (*dial)(int wire);
	void (*send)(size_t len);	/* without a copy where it can */
	size_t (*receive)(void);	/* the length */
};

extern const struct pair_lib pair_lib;

#endif
