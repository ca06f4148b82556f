/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_LIB_COPYTHREAD_H
#define PIER_T_LIB_COPYTHREAD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include <pier/pier.h>

/* A call of pier_copy in a thread of its own. */
enum copythread_call {
	COPYTHREAD_SERVE,
	COPYTHREAD_SERVE_FILE,	/* source */
	COPYTHREAD_SEND,	/* source, target */
	COPYTHREAD_RECEIVE,
};

struct copythread {
	struct pier_copy *copy;
	pthread_t thread;
	enum copythread_call call;
	const char *source, *target;
	atomic_bool listens, ended;
	int err;
	char text[1024];		/* its message */
	struct pier_copy_result result;
};

/* A server clients can connect to on return, unless of one file. */
bool copythread_start(struct copythread *thread, struct pier_dev *dev,
		      const struct pier_copy_config *cfg,
		      enum copythread_call call, const char *source,
		      const char *target);

/* Has the call returned? */
bool copythread_has_ended(struct copythread *thread);

/* End a server.  Wait for the end, and return the call's error. */
void copythread_stop(struct copythread *thread);
int copythread_join(struct copythread *thread);

#endif
