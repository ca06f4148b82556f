/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_LIB_CABLE_H
#define PIER_T_LIB_CABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * A cable of the test's own, to be pulled out, cut and shortened: network
 * interfaces f0 with 10.9.5.1 and f1 with 10.9.5.2, and an RDMA device on each
 * of the kind that PIER_DEVICE is.  Soft devices are in a network namespace
 * of the test's own.  Soft-RoCE has the first namespace only: its cable is
 * laid in the guest of t/vm/run and nowhere else.
 */

/*
 * To be called first, once: takes the process into its namespace.  Returns
 * why there can be no cable here, NULL if there can.
 */
const char *cable_enter(void);

/*
 * Lay it, f1 and its device in the namespace of @other; 0: all of it here.
 * Soft devices in one namespace do not use the cable.
 */
bool cable_lay(pid_t other);

/* The process at the far end: before cable_lay(), and after it. */
bool cable_enter_far(void);
bool cable_lay_far(void);

/* Take it away, with the devices; harmless if it is gone. */
void cable_cut(void);

/*
 * As TEST(), in a process of its own; what that has laid is cut when it has
 * ended: a process that has connected by address holds a Soft-RoCE for life.
 */
#define CABLE_TEST(fn) cable_test(#fn, fn)
void cable_test(const char *name, void (*fn)(void));

/*
 * Lose so many of a hundred packets from now on, in both directions.  Returns
 * whether the kernel can; and whether any was lost since.
 */
bool cable_lose(int percent);
bool cable_has_lost(void);

/* Make, or take away without waiting, the device of end @i. */
bool cable_plug(int i);
pid_t cable_unplug(int i);

/* The device of end @i, 0 or 1. */
const char *cable_device(int i);

/* Is it Soft-RoCE? */
bool cable_is_rxe(void);

/* Run a command; whether it succeeded.  What it prints is comment. */
bool cable_run(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The same in the background; and its exit status when it has ended. */
pid_t cable_spawn(const char *command);
int cable_reap(pid_t pid);

/* Descriptors that this process has open; bytes of its heap in use. */
int cable_fds(void);
size_t cable_heap(void);

#endif
