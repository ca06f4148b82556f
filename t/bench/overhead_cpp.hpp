/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_BENCH_OVERHEAD_CPP_HPP
#define PIER_T_BENCH_OVERHEAD_CPP_HPP

#include <pier/pier.hpp>

extern "C" {
#include "bench/overhead_peer.h"
#include "bench/target.h"
}

/* An operation: by the calls of C, and by those of the binding. */
struct overhead_case {
	const char *name;
	void (*open)();
	void (*c)(long n);
	void (*cpp)(long n);
};

/* Those of a file, up to one without a name. */
extern const overhead_case overhead_channel_cases[], overhead_coro_cases[],
	overhead_event_cases[], overhead_local_cases[], overhead_rdma_cases[];

/* What all have: a device that does nothing, memory, buffers. */
extern pier::device overhead_dev;
extern pier::engine overhead_pe;
extern pier::mmap overhead_local, overhead_remote;
extern pier::inventory overhead_inv;
extern pier::buf overhead_src, overhead_dst, overhead_far_src,
	overhead_far_dst;
extern char overhead_memory[2][64];

/* One that delivers, if there is another end. */
void overhead_open(bool can_deliver);

/* A connection to an end that does nothing. */
pier::conn &overhead_conn();

/* How many operations have succeeded. */
extern long overhead_done;

void overhead_task_done(pier_task *task, void *arg);
inline const auto overhead_count = [](pier::task_ref task) {
	overhead_done += task.ok();
};

/* Is it the calls of C that are measured? */
extern bool overhead_is_c;

/*
 * What is not counted, after each submit, and @again after each round in vain:
 * it begins, and progresses until @progress returns true.  Without @begin there
 * is nothing.  It runs in bench_peer(), but for the warm-up.
 */
extern struct overhead_other {
	void (*begin)();
	bool (*progress)();
	bool again;
} overhead_apart;

void overhead_run_apart();

/* @submit() and progress until it is done, @n times. */
template <class S> void overhead_repeat(long n, S submit)
{
	const long begin = overhead_done;

	for (long i = 0; i < n; i++) {
		must(submit());
		if (overhead_apart.begin)
			overhead_run_apart();
		while (must(overhead_pe.progress()), overhead_done <= begin + i)
			if (overhead_apart.again)
				overhead_run_apart();
	}
}

/* @call(), which does not wait for the engine, @n times. */
template <class S> void overhead_repeat_call(long n, S call)
{
	for (long i = 0; i < n; i++) {
		must(call());
		overhead_done++;
	}
}

#endif
