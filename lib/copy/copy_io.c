/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <pier/pe.h>

#include "copy/copy_io.h"
#include "core/fail.h"
#include "core/thread.h"

void pier__copy_ring_add(struct pier__copy_ring *ring,
			 struct pier__copy_slot slot)
{
	ring->slot[(ring->first + ring->count++) % PIER__COPY_SLOTS] = slot;
}

bool pier__copy_ring_take(struct pier__copy_ring *ring,
			  struct pier__copy_slot *ret)
{
	if (!ring->count)
		return false;
	*ret = ring->slot[ring->first];
	ring->first = (ring->first + 1) % PIER__COPY_SLOTS;
	ring->count--;
	return true;
}

void pier__copy_io_init(struct pier__copy_io *io, struct pier_pe *pe)
{
	memset(io, 0, sizeof(*io));
	io->pe = pe;
	pthread_mutex_init(&io->lock, NULL);
	pthread_cond_init(&io->changed, NULL);
}

static void *thread_main(void *arg)
{
	struct pier__copy_io *io = arg;

	io->run(io->arg);
	pthread_mutex_lock(&io->lock);
	io->ended = true;
	pier_pe_wake(io->pe);
	pthread_mutex_unlock(&io->lock);
	return NULL;
}

int pier__copy_io_start(struct pier__copy_io *io, void (*run)(void *arg),
			void *arg)
{
	int err;

	io->run = run;
	io->arg = arg;
	err = pier__thread_start(&io->thread, thread_main, io, "copy");
	io->started = !err;
	return err;
}

void pier__copy_io_fini(struct pier__copy_io *io)
{
	if (io->started)
		pthread_join(io->thread, NULL);
	io->started = false;
	pthread_cond_destroy(&io->changed);
	pthread_mutex_destroy(&io->lock);
}

void pier__copy_io_pass(struct pier__copy_io *io, struct pier__copy_slot slot)
{
	pthread_mutex_lock(&io->lock);
	pier__copy_ring_add(&io->in, slot);
	pthread_cond_signal(&io->changed);
	pthread_mutex_unlock(&io->lock);
}

bool pier__copy_io_next(struct pier__copy_io *io, struct pier__copy_slot *ret)
{
	bool any;

	pthread_mutex_lock(&io->lock);
	any = pier__copy_ring_take(&io->out, ret);
	pthread_mutex_unlock(&io->lock);
	return any;
}

bool pier__copy_io_next_report(struct pier__copy_io *io,
			       struct pier__copy_report *ret)
{
	bool any;

	pthread_mutex_lock(&io->lock);
	any = io->report_count > 0;
	if (any) {
		*ret = io->report[io->report_first];
		io->report_first = (io->report_first + 1) % PIER__COPY_REPORTS;
		io->report_count--;
		pthread_cond_signal(&io->changed);
	}
	pthread_mutex_unlock(&io->lock);
	return any;
}

void pier__copy_io_cancel(struct pier__copy_io *io)
{
	pthread_mutex_lock(&io->lock);
	atomic_store(&io->cancelled, true);
	pthread_cond_signal(&io->changed);
	pthread_mutex_unlock(&io->lock);
}

bool pier__copy_io_ended(struct pier__copy_io *io)
{
	bool ended;

	pthread_mutex_lock(&io->lock);
	ended = io->ended;
	pthread_mutex_unlock(&io->lock);
	return ended;
}

bool pier__copy_io_drained(struct pier__copy_io *io)
{
	bool drained;

	pthread_mutex_lock(&io->lock);
	drained = io->ended && !io->out.count && !io->report_count;
	pthread_mutex_unlock(&io->lock);
	return drained;
}

bool pier__copy_io_next_offset(struct pier__copy_io *io,
			       struct pier__copy_offset *ret)
{
	bool any;

	pthread_mutex_lock(&io->lock);
	any = io->has_offset;
	*ret = io->offset;
	io->has_offset = false;
	pthread_mutex_unlock(&io->lock);
	return any;
}

void pier__copy_io_pass_offset(struct pier__copy_io *io,
			       const struct pier__copy_offset *offset)
{
	pthread_mutex_lock(&io->lock);
	io->offset = *offset;
	io->has_offset = true;
	pthread_cond_signal(&io->changed);
	pthread_mutex_unlock(&io->lock);
}

bool pier__copy_io_awaits_offset(struct pier__copy_io *io)
{
	bool awaits;

	pthread_mutex_lock(&io->lock);
	awaits = io->awaits_offset && !io->out.count;
	pthread_mutex_unlock(&io->lock);
	return awaits;
}

void pier__copy_io_refuse(struct pier__copy_io *io, uint64_t number)
{
	pthread_mutex_lock(&io->lock);
	atomic_store(&io->refused, number);
	pthread_cond_signal(&io->changed);
	pthread_mutex_unlock(&io->lock);
}

int pier__copy_io_error(struct pier__copy_io *io)
{
	return io->error ? pier__fail_again(io->error, io->error_text) : 0;
}

uint64_t pier__copy_io_current(struct pier__copy_io *io,
			       char ret[PIER__RECORD_PATH + 1])
{
	uint64_t size;

	pthread_mutex_lock(&io->lock);
	strcpy(ret, io->path);
	size = io->size;
	pthread_mutex_unlock(&io->lock);
	return size;
}

int pier__copy_io_take(struct pier__copy_io *io, struct pier__copy_slot *ret)
{
	bool any = false;

	pthread_mutex_lock(&io->lock);
	while (!atomic_load(&io->cancelled)) {
		any = pier__copy_ring_take(&io->in, ret);
		if (any)
			break;
		pthread_cond_wait(&io->changed, &io->lock);
	}
	pthread_mutex_unlock(&io->lock);
	return any ? 0 : -ECANCELED;
}

bool pier__copy_io_try_take(struct pier__copy_io *io,
			    struct pier__copy_slot *ret)
{
	bool any;

	pthread_mutex_lock(&io->lock);
	any = !atomic_load(&io->cancelled) &&
	      pier__copy_ring_take(&io->in, ret);
	pthread_mutex_unlock(&io->lock);
	return any;
}

void pier__copy_io_give(struct pier__copy_io *io, struct pier__copy_slot slot)
{
	pthread_mutex_lock(&io->lock);
	pier__copy_ring_add(&io->out, slot);
	pthread_mutex_unlock(&io->lock);
	pier_pe_wake(io->pe);
}

void pier__copy_io_report(struct pier__copy_io *io,
			  const struct pier__copy_report *report)
{
	uint32_t at;

	pthread_mutex_lock(&io->lock);
	while (io->report_count == PIER__COPY_REPORTS &&
	       !atomic_load(&io->cancelled))
		pthread_cond_wait(&io->changed, &io->lock);
	if (io->report_count < PIER__COPY_REPORTS) {
		at = io->report_first + io->report_count++;
		io->report[at % PIER__COPY_REPORTS] = *report;
	}
	pthread_mutex_unlock(&io->lock);
	pier_pe_wake(io->pe);
}

void pier__copy_io_give_offset(struct pier__copy_io *io,
			       const struct pier__copy_offset *offset)
{
	pier__copy_io_pass_offset(io, offset);
	pier_pe_wake(io->pe);
}

int pier__copy_io_take_offset(struct pier__copy_io *io, uint64_t number,
			      struct pier__copy_offset *ret)
{
	bool found = false;

	pthread_mutex_lock(&io->lock);
	io->awaits_offset = true;
	while (!atomic_load(&io->cancelled) &&
	       atomic_load(&io->refused) != number) {
		found = io->has_offset && io->offset.number == number;
		if (found)
			break;
		pthread_cond_wait(&io->changed, &io->lock);
	}
	*ret = io->offset;
	io->has_offset = false;
	io->awaits_offset = false;
	pthread_mutex_unlock(&io->lock);
	return found ? 0 : -ECANCELED;
}

void pier__copy_io_fail(struct pier__copy_io *io, int err)
{
	io->error = err;
	snprintf(io->error_text, sizeof(io->error_text), "%s",
		 pier_last_error());
}

void pier__copy_io_begin(struct pier__copy_io *io, const char *path,
			 uint64_t size)
{
	pthread_mutex_lock(&io->lock);
	snprintf(io->path, sizeof(io->path), "%s", path);
	io->size = size;
	pthread_mutex_unlock(&io->lock);
}
