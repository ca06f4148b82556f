/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_FABRIC_SOFT_STATS_COUNTERS_FILE_H
#define PIER_FABRIC_SOFT_STATS_COUNTERS_FILE_H

#include "fabric/fabric.h"
#include "fabric/soft/stats/count.h"
#include "fabric/soft/wire/packet.h"

/*
 * The page: where a process keeps what its soft devices count, so that others
 * of the same user, and root, can read it.  A file of mode 0600 on a file
 * system in memory, made with the first endpoint under a name that nobody can
 * guess, complete when it appears, locked (flock(2)) as long as the process
 * lives, removed when it exits.  What a process that was killed leaves behind
 * is removed by the next one that makes or reads pages.
 *
 * A row has what one endpoint or connection counts; its one writer is whoever
 * drives the endpoint.  Readers of other processes take a copy, check all of
 * it, and see each value whole, but not all values of one moment.
 *
 * If there is no such file system, or it is full, rows are the process's
 * alone, and a warning says so.
 */
#define SOFT_COUNTERS_MAGIC "pier page"
#define SOFT_COUNTERS_VERSION 3	/* of all of this, and of soft_counters */
#define SOFT_ROWS_EP 256	/* rows of endpoints, then of connections */
#define SOFT_ROWS_QP 1024

enum soft_row_kind {
	SOFT_ROW_FREE,
	SOFT_ROW_EP,		/* also one that ended: it still counts */
	SOFT_ROW_QP,
};

/* A multiple of a cache line: rows have different writers. */
struct soft_row {
	uint32_t kind;
	uint32_t qpn, peer_qpn;		/* of a connection */
	uint16_t local_port, peer_port;
	uint8_t local_ip[16], peer_ip[16];
	char device[64];
	struct soft_counters counters;
} __attribute__((aligned(64)));

struct soft_counters_file {
	char magic[16];
	uint32_t version;
	uint32_t size;			/* of all of it */
	uint32_t uid, pid;
	uint64_t pids;			/* the namespace that @pid is of */
	uint64_t start;			/* of the process, in clock ticks */
	char program[16];
	struct soft_row row[SOFT_ROWS_EP + SOFT_ROWS_QP];
};

/* Where pages are: /dev/shm; tests may set another directory. */
extern const char *pier__soft_counters_dir;

/*
 * A row for an endpoint on @device, which goes on from one that ended; or for
 * a connection.  NULL: there is none left, count elsewhere.  Any thread.
 */
struct soft_row *pier__soft_row_get_ep(const char *device, uint16_t port);
struct soft_row *pier__soft_row_get_qp(const char *device, uint32_t qpn);

/* Nobody writes to @row any more; NULL is fine.  Any thread. */
void pier__soft_row_put(struct soft_row *row);

/* Tell whom the connection of @row is with; NULL is fine. */
void pier__soft_row_peer(struct soft_row *row, const struct soft_addr *local,
			 const struct soft_addr *peer, uint32_t peer_qpn);

/* What all endpoints on @device have counted.  Any thread. */
void pier__soft_rows_sum(const char *device, struct soft_counters *ret);

/* Who is this process?  Fills in what tells it from all others. */
void pier__soft_counters_file_self(struct soft_counters_file *file);

/* The file's name, without the directory. */
void pier__soft_counters_file_name(char *ret, size_t size, uid_t uid, pid_t pid,
				   uint64_t number);

/* Remove what dead processes of this user have left, of any version. */
void pier__soft_counters_file_sweep(void);

/* As the fabric's member of that name. */
int pier__soft_counters_file_list(int pid, struct pier__counteds *list);

#endif
