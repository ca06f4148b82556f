/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_ERROR_H
#define PIER_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Every call returns 0, a count, or a negative errno value.  Errors that errno
 * does not have are listed here and are negative in the same way: -PIER_ERNR.
 * A call that returns int returns -EINVAL if its object, the first parameter,
 * is NULL, unless its header allows that; if it answers yes or no, 0.  A call
 * that returns something else returns 0, NULL or "" then, and does nothing.
 * pier_pe_progress(), pier_task_status() and pier_buf_reset() do not check it.
 */

/* The object that an error affects; pier(7) lists every error under one. */
enum pier_scope {
	PIER_SCOPE_RETRY,	/* nothing was done: try again */
	PIER_SCOPE_TASK,	/* only this call or task failed */
	PIER_SCOPE_CONN,	/* this connection has ended */
	PIER_SCOPE_CTX,		/* this context or device is unusable */
};

/* X(name, number, scope, text): the one list of them. */
#define PIER_ERRORS(X) \
	X(PIER_EHELP, 5001, TASK, "help or version was printed") \
	X(PIER_EUSAGE, 5002, TASK, "invalid command line") \
	X(PIER_EDESC, 5003, TASK, "not a descriptor, or a damaged one") \
	X(PIER_EVERSION, 5004, TASK, "descriptor of another version") \
	X(PIER_EKIND, 5005, TASK, "descriptor of another kind") \
	X(PIER_ENOHELLO, 5006, CONN, "no hello arrived from the peer") \
	X(PIER_ERETRY, 5007, CONN, "the peer does not answer") \
	X(PIER_ERNR, 5008, CONN, "the peer has no receive posted") \
	X(PIER_EREMACCESS, 5009, CONN, \
	  "the peer refused access to its memory") \
	X(PIER_EREMINVAL, 5010, CONN, "the peer reports an invalid request") \
	X(PIER_EREMOP, 5011, CONN, "the peer failed to execute the request") \
	X(PIER_EDEVICE, 5012, CTX, "the device reports a failure")

enum pier_error {
#define PIER_ERROR_ENUM_(name, number, scope, text) name = number,
	PIER_ERRORS(PIER_ERROR_ENUM_)
#undef PIER_ERROR_ENUM_
};

/* The text of @err, of either sign; static storage.  Any thread. */
const char *pier_strerror(int err);

/* The name of @err, as "EINVAL" or "PIER_ERNR"; static storage.  Any thread. */
const char *pier_error_name(int err);

/* The scope of @err, of either sign.  Any thread. */
enum pier_scope pier_error_scope(int err);

/*
 * The error message of the last failure in the calling thread: what failed,
 * with which value, and the remedy.  "" if nothing failed yet.  It belongs to
 * pier and lives until the next failure in this thread.  A call that succeeds
 * may leave another one, of a failure that it has overcome: look at it after a
 * failure only.  Results such as -EAGAIN that are not failures do not change
 * it: pier_error(3).  Any thread.
 */
const char *pier_last_error(void);

#ifdef __cplusplus
}
#endif

#endif
