/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>

#include "t/lib/copythread.h"
#include "t/lib/limit.h"
#include "t/lib/tap.h"

static void listening(void *arg)
{
	struct copythread *thread = arg;

	atomic_store(&thread->listens, true);
}

static int call(struct copythread *thread)
{
	switch (thread->call) {
	case COPYTHREAD_SERVE:
		return pier_copy_serve(thread->copy, listening, thread);
	case COPYTHREAD_SERVE_FILE:
		return pier_copy_serve_file(thread->copy, thread->source);
	case COPYTHREAD_SEND:
		return pier_copy_send(thread->copy, &thread->source, 1,
				      thread->target);
	case COPYTHREAD_RECEIVE:
		return pier_copy_receive(thread->copy, &thread->source, 1,
					 thread->target);
	}
	return 0;
}

static void *thread_main(void *arg)
{
	struct copythread *thread = arg;

	thread->err = call(thread);
	if (thread->err)
		snprintf(thread->text, sizeof(thread->text), "%s",
			 pier_last_error());
	pier_copy_get_result(thread->copy, &thread->result);
	atomic_store(&thread->ended, true);
	return NULL;
}

bool copythread_start(struct copythread *thread, struct pier_dev *dev,
		      const struct pier_copy_config *cfg,
		      enum copythread_call call, const char *source,
		      const char *target)
{
	long long limit = limit_from_now();

	memset(thread, 0, sizeof(*thread));
	thread->call = call;
	thread->source = source;
	thread->target = target;
	if (!IS(pier_copy_create(dev, &thread->copy), 0) ||
	    !IS(pier_copy_configure(thread->copy, cfg), 0) ||
	    !IS(pthread_create(&thread->thread, NULL, thread_main, thread), 0))
		return false;
	while (call == COPYTHREAD_SERVE && !atomic_load(&thread->listens) &&
	       !atomic_load(&thread->ended) && limit_nap(limit))
		;
	return call != COPYTHREAD_SERVE || atomic_load(&thread->listens);
}

bool copythread_has_ended(struct copythread *thread)
{
	return atomic_load(&thread->ended);
}

void copythread_stop(struct copythread *thread)
{
	pier_copy_stop(thread->copy);
}

int copythread_join(struct copythread *thread)
{
	pthread_join(thread->thread, NULL);
	pier_copy_destroy(thread->copy);
	return thread->err;
}
