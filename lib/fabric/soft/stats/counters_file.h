/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_FABRIC_SOFT_STATS_COUNTERS_FILE_H
#define PIER_FABRIC_SOFT_STATS_COUNTERS_FILE_H

#include "fabric/fabric.h"
#include "fabric/soft/stats/count.h"
#include "fabric/soft/stats/recorder.h"
#include "fabric/soft/wire/packet.h"

/*
 * The counters file: a process keeps the counters of its soft devices in it,
 * for other processes of the same user, and root, to read.  It has mode 0600
 * and is on a file system in memory.  The first endpoint makes it, under a
 * random name, which appears when the file is complete.  The process holds a
 * lock on it (flock(2)) and removes it at exit.  The file of a process that
 * was killed is removed by the next process that makes or reads such files.
 *
 * A row has the counters of one endpoint or connection; only the thread that
 * drives the endpoint writes it.  Readers in other processes copy the file and
 * check all of it.  They see each value whole, but not all of one moment.
 *
 * Without such a file system, or if it is full, only the process itself sees
 * the rows, and it logs a warning.
 */
#define SOFT_COUNTERS_MAGIC "pier counters"
#define SOFT_COUNTERS_VERSION 10 /* of all this, and of soft_counters */
#define SOFT_ROWS_EP 256	/* rows of endpoints, then of connections */
#define SOFT_ROWS_QP 1024

enum soft_row_kind {
	SOFT_ROW_FREE,
	SOFT_ROW_EP,		/* kept when the endpoint ends */
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
	/*
	 * Of the row of that index.  Events move from those of a connection to
	 * those of its endpoint, which are read after them: one that moves
	 * meanwhile is read twice, and not missed.
	 */
	struct soft_qp_events qp_events[SOFT_ROWS_QP];	/* from SOFT_ROWS_EP */
	struct soft_events events[SOFT_ROWS_EP];
};

/* The directory: /dev/shm; tests may set another. */
extern const char *pier__soft_counters_dir;

/*
 * The folder of PIER_COUNTERS_DIR, or NULL: there each file has its name a
 * second time, which is not removed, and there files are read, also those of
 * processes that have ended.
 */
const char *pier__soft_counters_second(void);

/*
 * A row for an endpoint on @device, with the counts of one that ended; or for
 * a connection.  NULL: none is free, count elsewhere.  Any thread.
 */
struct soft_row *pier__soft_row_get_ep(const char *device, uint16_t port);
struct soft_row *pier__soft_row_get_qp(const char *device, uint32_t qpn);

/*
 * The events of @row, of an endpoint; those of a connection's, which are empty;
 * or NULL: none are recorded.
 */
struct soft_events *pier__soft_row_events(struct soft_row *row);
struct soft_qp_events *pier__soft_row_qp_events(struct soft_row *row);

/*
 * The events of row @i, below SOFT_ROWS_QP, of this process's connections, and
 * its device; NULL: none are recorded, or it is free.  Any thread.
 */
const struct soft_qp_events *pier__soft_conn_events(size_t i,
						    const char **ret_device);

/* Release @row, which is not written any more; or NULL.  Any thread. */
void pier__soft_row_put(struct soft_row *row);

/* In a child of fork(2). */
void pier__soft_rows_forked(void);

/* Set the addresses of the connection of @row; or NULL. */
void pier__soft_row_peer(struct soft_row *row, const struct soft_addr *local,
			 const struct soft_addr *peer, uint32_t peer_qpn);

/* The sum over all endpoints on @device.  Any thread. */
void pier__soft_rows_sum(const char *device, struct soft_counters *ret);

/* Fill in what identifies this process. */
void pier__soft_counters_file_self(struct soft_counters_file *file);

/* The file's name, without the directory. */
void pier__soft_counters_file_name(char *ret, size_t size, uid_t uid, pid_t pid,
				   uint64_t number);

/*
 * As the fabric's member of that name.  Removes files of this user's dead
 * processes, of any version; with NULL for @list it does no more.
 */
int pier__soft_counters_file_list(int pid, struct pier__counteds *list);

#endif
