/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_COUNTERS_H
#define PIER_COUNTERS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Counters, as names and values.  Soft devices count by device and by
 * connection, from the start of the process; adapters count for the whole host,
 * by port, under the names of their drivers.
 *
 * Other processes of the same user can read the counters of soft devices:
 * struct pier_counterlist is a snapshot of them, and of the last rare events of
 * their connections.
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
	uint32_t count;		/* entries in use */
	struct pier_counter counter[96];
};

/* The object of a set of counters: a device of a process, or a connection. */
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
	uint64_t pid_namespace;	/* the inode of the one that @pid is of */
	uint64_t start;		/* of the process, clock ticks after boot */
};

/* What has happened on a connection, once or several times. */
struct pier_conn_event {
	uint64_t at_ns;		/* CLOCK_MONOTONIC, of the first */
	uint32_t qpn;		/* of the connection; 0: it had none yet */
	uint32_t count;		/* how often, 1 or more */
	uint32_t psn;		/* of the packet it is about, 0: of none */
	char name[24];		/* "nak_received" */
	char detail[40];	/* "access"; "": none */
};

/*
 * The counters of @dev; set ret->size first.  Of a soft device: those of this
 * process.  Any thread.
 * Errors: -EINVAL, the size; -EOPNOTSUPP, it has no counters.
 */
int pier_dev_counters(struct pier_dev *dev, struct pier_counters *ret);

/*
 * The counters of @conn, and the size of its window.  The engine's thread.
 * Errors: -EINVAL; -ENOTCONN, it is closed; -EOPNOTSUPP, adapters do not count
 * by connection.
 */
int pier_conn_counters(const struct pier_conn *conn,
		       struct pier_counters *ret);

/* The value of @name in @counters.  Errors: -ENOENT. */
int pier_counters_find(const struct pier_counters *counters, const char *name,
		       uint64_t *ret);

/*
 * The counters of process @pid, 0: of every process whose counters this user
 * can read.  Any thread.  The caller destroys it by pier_counterlist_destroy().
 * Errors: -ENOENT, @pid does not run, has no soft device, or is another user's;
 * -ENOMEM; those of opendir(3), of the folder of PIER_COUNTERS_DIR.
 */
int pier_counterlist_create(int pid, struct pier_counterlist **ret);
void pier_counterlist_destroy(struct pier_counterlist *list);

/*
 * The number of entries: for each process its devices, each followed by its
 * connections.  Entry @i belongs to @list; NULL: there is none.
 */
size_t pier_counterlist_count(const struct pier_counterlist *list);
const struct pier_counted *
pier_counterlist_get(const struct pier_counterlist *list, size_t i);

/* The counters of entry @i.  Errors: -EINVAL; -ERANGE. */
int pier_counterlist_counters(const struct pier_counterlist *list, size_t i,
			      struct pier_counters *ret);

/*
 * Event @n, the oldest is 0, of entry @i, a device; a connection has none of
 * its own.  Returns 1, or 0: there is none.  Errors: -EINVAL; -ERANGE, no entry
 * @i.
 */
int pier_counterlist_event(const struct pier_counterlist *list, size_t i,
			   size_t n, struct pier_conn_event *ret);

#ifdef __cplusplus
}
#endif

#endif
