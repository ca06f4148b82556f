/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_COUNTERS_H
#define PIER_COUNTERS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Counters, as names and values.  Soft devices count themselves, by device
 * and by connection, from the process's start; adapters count for all of the
 * host, by port, under the names of their drivers.
 *
 * What soft devices count is kept where other processes of the same user can
 * read it: struct pier_counterlist is a snapshot of that.
 */
struct pier_dev;
struct pier_conn;
struct pier_counterlist;

struct pier_counter {
	char name[48];		/* "tx_packets" */
	uint64_t value;
};

struct pier_counters {
	size_t size;		/* sizeof(struct pier_counters), always */
	uint32_t count;		/* of those below */
	struct pier_counter counter[96];
};

/* What is counted: a device of a process, or one of its connections. */
struct pier_counted {
	int pid;
	char program[16];
	char device[64];
	uint32_t qpn;		/* of the connection; 0: the device */
	uint32_t peer_qpn;	/* 0: not connected yet, nor the rest */
	uint8_t local_gid[16];	/* IPv4 is ::ffff:a.b.c.d */
	uint8_t peer_gid[16];
	uint16_t local_port;	/* UDP */
	uint16_t peer_port;
};

/*
 * What @dev has counted; ret->size is to be set.  A soft device: all that
 * this process did on it.  Any thread.
 * Errors: -EINVAL, the size; -EOPNOTSUPP, it does not tell.
 */
int pier_dev_counters(struct pier_dev *dev, struct pier_counters *ret);

/*
 * What @conn has counted, and how large its window is.  The engine's thread.
 * Errors: -EINVAL; -ENOTCONN, it is closed; -EOPNOTSUPP, adapters do not tell.
 */
int pier_conn_counters(const struct pier_conn *conn,
		       struct pier_counters *ret);

/* The value of @name in @counters.  Errors: -ENOENT. */
int pier_counters_find(const struct pier_counters *counters, const char *name,
		       uint64_t *ret);

/*
 * What process @pid counts, 0: every process whose counters this user may
 * read.  Any thread.  The caller ends it with pier_counterlist_destroy().
 * Errors: -ENOENT, @pid has no soft device, or is another user's; -ENOMEM.
 */
int pier_counterlist_create(int pid, struct pier_counterlist **ret);
void pier_counterlist_destroy(struct pier_counterlist *list);

/*
 * How many things are counted: of each process its devices, each of them
 * before its connections.  Number @i belongs to @list; NULL: there is none.
 */
size_t pier_counterlist_count(const struct pier_counterlist *list);
const struct pier_counted *
pier_counterlist_get(const struct pier_counterlist *list, size_t i);

/* The counters of number @i.  Errors: -EINVAL; -ERANGE. */
int pier_counterlist_counters(const struct pier_counterlist *list, size_t i,
			      struct pier_counters *ret);

#ifdef __cplusplus
}
#endif

#endif
