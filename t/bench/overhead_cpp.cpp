/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the C++ binding adds: the same operation by the calls of C and by those
 * of the binding, on a device that does nothing.  Counted by callgrind between
 * the toggles in overhead.sh; without it, this only checks that every operation
 * completes.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "bench/overhead_cpp.hpp"

extern "C" {
#include "bench/overhead_clock.h"
#include "bench/procs.h"

/* Its header includes what is for C. */
struct pier_dev *nullfabric_open(bool can_deliver);

/* From submit to callback, @n times; called from nowhere else. */
void bench_c(long n) __attribute__((noinline));
void bench_cpp(long n) __attribute__((noinline));

/* What is not counted, in between. */
void bench_peer(void) __attribute__((noinline));
}

#define WARM_UP 32

pier::device overhead_dev;
pier::engine overhead_pe;
pier::mmap overhead_local, overhead_remote;
pier::inventory overhead_inv;
pier::buf overhead_src, overhead_dst, overhead_far_src, overhead_far_dst;
char overhead_memory[2][64];
long overhead_done;
bool overhead_is_c;
struct overhead_other overhead_apart;

static const overhead_case *const tables[] = {
	overhead_rdma_cases, overhead_local_cases, overhead_event_cases,
	overhead_channel_cases, overhead_coro_cases,
};
static const overhead_case *current;
static bool is_counted;

void overhead_open(bool can_deliver)
{
	char *from = overhead_memory[0], *to = overhead_memory[1];
	const std::size_t size = sizeof(overhead_memory[1]);

	overhead_dev = pier::device(nullfabric_open(can_deliver));
	overhead_pe = pier::engine::create().value();
	overhead_local = pier::mmap::map(
		overhead_dev, overhead_memory, sizeof(overhead_memory),
		PIER_LOCAL_WRITE | PIER_REMOTE_READ | PIER_REMOTE_WRITE |
		PIER_REMOTE_ATOMIC).value();
	overhead_remote = pier::mmap::import(
		overhead_dev, overhead_local.descriptor().value()).value();
	overhead_inv = pier::inventory::create(4).value();
	overhead_src = overhead_inv.by_data(overhead_local, from, 8).value();
	overhead_dst = overhead_inv.by_addr(overhead_local, to, size).value();
	overhead_far_src = overhead_inv.by_data(overhead_remote, from,
						8).value();
	overhead_far_dst = overhead_inv.by_addr(overhead_remote, to,
						size).value();
}

void overhead_task_done(pier_task *task, void *arg)
{
	*static_cast<long *>(arg) += pier_task_status(task) == 0;
}

void bench_peer()
{
	overhead_apart.begin();
	while (!overhead_apart.progress())
		;
}

/*
 * The toggle is a toggle: in the warm-up it would begin to count.  There the
 * other end may need this one to make a connection.
 */
void overhead_run_apart()
{
	if (is_counted) {
		bench_peer();
		return;
	}
	overhead_apart.begin();
	while (!overhead_apart.progress())
		must(overhead_pe.progress());
}

void bench_c(long n)
{
	current->c(n);
}

void bench_cpp(long n)
{
	current->cpp(n);
}

static const overhead_case *find(const char *name)
{
	for (const overhead_case *table : tables)
		for (; table->name; table++)
			if (!std::strcmp(table->name, name))
				return table;
	proc_die("overhead_cpp: no operation is called %s", name);
}

static int print_types()
{
	for (const overhead_case *table : tables)
		for (; table->name; table++)
			std::puts(table->name);
	return 0;
}

/* The first message to a consumer makes a connection. */
static void warm_up()
{
	(overhead_is_c ? current->c : current->cpp)(WARM_UP);
	overhead_done = 0;
	is_counted = true;
}

int main(int argc, char *argv[])
{
	long n = argc > 3 ? std::atol(argv[3]) : 3200;

	if (argc == 2 && !std::strcmp(argv[1], "types"))
		return print_types();
	if (argc < 3 || n < 1)
		proc_die("usage: overhead_cpp types | TYPE c|cpp [COUNT]");
	current = find(argv[1]);
	overhead_is_c = !std::strcmp(argv[2], "c");
	current->open();
	warm_up();
	overhead_clock_stop();
	if (overhead_is_c)
		bench_c(n);
	else
		bench_cpp(n);
	if (overhead_done != n)
		proc_die("overhead_cpp: %ld of %ld tasks done", overhead_done,
			 n);
	std::printf("%ld tasks\n", overhead_done);
	std::fflush(stdout);
	std::_Exit(0);	/* the device is none of the list: not closed */
}
