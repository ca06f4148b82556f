/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_BENCH_OVERHEAD_MODE_H
#define PIER_T_BENCH_OVERHEAD_MODE_H

/*
 * The ways in which a program has @n tasks done, each of which the program
 * defines.  They are what is counted: not to be inlined into anything.
 */
void __attribute__((noinline)) bench_single(long n);
void __attribute__((noinline)) bench_batched(long n);
void __attribute__((noinline)) bench_events(long n);
void __attribute__((noinline)) bench_anew(long n);

/* That of the name on the command line; NULL: there is none. */
void (*overhead_mode(const char *name))(long n);

#endif
