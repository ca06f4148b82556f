/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_COPY_H
#define PIER_COPY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Copies of files between two processes, of one host or of two: a server, which
 * has a name on a device, and clients.  The server reads and writes memory of
 * the client by DMA, in both directions; a Comm Channel carries the rest.
 *
 * For straight-line programs: calls block, on an engine and a thread for files
 * of their own.  They return 0 or a negative errno value and do not write *ret
 * on failure.  One thread at a time, but for pier_copy_stop().
 */
struct pier_copy;
struct pier_dev;
struct pier_rep;

enum pier_copy_flag {
	PIER_COPY_RECURSIVE = 1,	/* directories with what they contain */
	PIER_COPY_PRESERVE = 2,		/* permissions and times */
	PIER_COPY_RESUME = 4,		/* continue files of an interrupted */
					/* copy, and leave what is received */
	PIER_COPY_ONCE = 8,		/* of a server: one client, which */
					/* comes within timeout_ms; of a */
					/* client: the server is there */
					/* already, or it is an error */
	PIER_COPY_ANYWHERE = 16,	/* of a server: paths are those of */
					/* the process; no root */
};

struct pier_copy_config {
	size_t size;		/* sizeof(struct pier_copy_config), always */
	const char *name;	/* of the server; NULL means "pier copy" */
	const char *address;	/* of a client: its server's host; NULL: */
				/* this one */
	const char *root;	/* of a server: the directory that no client */
				/* leaves; NULL means "." */
	struct pier_rep *rep;	/* of a server; or NULL */
	uint32_t flags;		/* enum pier_copy_flag, or-ed */
	uint32_t timeout_ms;	/* of connecting, also to a server that is */
				/* not there yet, and of silence of a peer; */
				/* 0 means 30000 */
	uint32_t max_clients;	/* of a server at a time, 1..64; 0 means 8 */
};

/* What a copy, or all copies of a server, have done. */
struct pier_copy_result {
	uint64_t files;		/* that are complete, with their names */
	uint64_t failed;	/* files and directories that are not */
	uint64_t bytes;		/* of data that was received */
	uint64_t broken;	/* of a server: clients whose copy has ended */
				/* with an error of its own */
};

/*
 * @path, a file or directory, was not copied: @error, negative, with its
 * message; or, with @path "" , a client of a server has failed.
 */
typedef void pier_copy_failed_fn(const char *path, int error, const char *text,
				 void *arg);

/*
 * Called about every 200 ms: @path is being copied, of @size bytes; so far all
 * files together had @bytes.
 */
typedef void pier_copy_progress_fn(const char *path, uint64_t size,
				   uint64_t bytes, void *arg);

/*
 * Create a copy on @dev, which must outlive it.  The caller destroys it by
 * pier_copy_destroy().  Errors: -EOPNOTSUPP, the device has no Comm Channel;
 * -ENOMEM; -EMFILE.
 */
int pier_copy_create(struct pier_dev *dev, struct pier_copy **ret);

/*
 * Copy @cfg, whose strings stay the caller's and must outlive the next call.
 * Errors: -EINVAL, a member is out of range.
 */
int pier_copy_configure(struct pier_copy *copy,
			const struct pier_copy_config *cfg);

/* The values in use. */
void pier_copy_get_config(const struct pier_copy *copy,
			  struct pier_copy_config *ret);

/* Each may be NULL; @arg is passed to both.  Called in the calls below. */
void pier_copy_set_callbacks(struct pier_copy *copy,
			     pier_copy_failed_fn *failed,
			     pier_copy_progress_fn *progress, void *arg);

/* NULL is allowed. */
void pier_copy_destroy(struct pier_copy *copy);

/*
 * Copy @count files @sources to @target of the server, or those of the server
 * to @target here: a file's new name, or a directory to copy into, which more
 * than one source requires; "" of the server is its root.  The old target is as
 * it was until the new one is complete.  A source that fails does not end the
 * copy.
 * Errors: that of the first that failed; -ECANCELED, stopped; -ETIMEDOUT; those
 * of connecting and of the server, with its message.
 */
int pier_copy_send(struct pier_copy *copy, const char *const *sources,
		   size_t count, const char *target);
int pier_copy_receive(struct pier_copy *copy, const char *const *sources,
		      size_t count, const char *target);

/*
 * Serve clients that send and receive below the root, until pier_copy_stop(),
 * or one with PIER_COPY_ONCE.
 * @listening, unless NULL, is called once clients can connect.
 * Errors: those of the root and of pier_comch_create_server().
 */
int pier_copy_serve(struct pier_copy *copy, void (*listening)(void *arg),
		    void *arg);

/*
 * Copy one file between a client, which calls pier_copy_file(), and a server,
 * which calls pier_copy_serve_file(): of the two @path, each end's own, the one
 * that exists is the source.
 * Errors: -EEXIST, both exist; -ENOENT, neither; as pier_copy_send().
 */
int pier_copy_file(struct pier_copy *copy, const char *path);
int pier_copy_serve_file(struct pier_copy *copy, const char *path);

/* End the call in progress, or the next one.  Any thread; signal handlers. */
void pier_copy_stop(struct pier_copy *copy);

/* Of the last call. */
void pier_copy_get_result(const struct pier_copy *copy,
			  struct pier_copy_result *ret);

#ifdef __cplusplus
}
#endif

#endif
