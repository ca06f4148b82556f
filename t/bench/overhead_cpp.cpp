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

#include <pier/pier.hpp>

extern "C" {
#include "bench/overhead_clock.h"
#include "bench/procs.h"
#include "bench/target.h"

/* Its header includes what is for C. */
struct pier_dev *nullfabric_open(bool can_deliver);

/* From submit to callback, @n times; called from nowhere else. */
void bench_c(long n) __attribute__((noinline));
void bench_cpp(long n) __attribute__((noinline));
}

static pier::device dev;
static pier::engine pe;
static pier::rdma rdma;
static pier::conn conn;
static pier::dma dma;
static pier::func func;
static pier::mmap local, remote;
static pier::inventory inv;
static pier::buf src, dst, far_src, far_dst;
static pier::task again;
static char memory[2][64];
static const char *type;
static long done;

static void open_all()
{
	auto cfg = pier::defaults<pier_rdma_config>();

	dev = pier::device(nullfabric_open(false));
	pe = pier::engine::create().value();
	rdma = pier::rdma::create(dev).value();
	dma = pier::dma::create(dev).value();
	func = pier::func::create().value();
	cfg.no_hello = 1;
	rdma.configure(cfg).or_throw();
	rdma.start(pe).or_throw();
	dma.start(pe).or_throw();
	func.start(pe).or_throw();

	auto here = rdma.export_conn().value();
	auto there = rdma.export_conn().value();

	conn = std::move(here.conn);
	conn.connect(there.descriptor).or_throw();
	there.conn.release();		/* destroyed with its context */
	local = pier::mmap::map(dev, memory, sizeof(memory),
				PIER_REMOTE_READ | PIER_REMOTE_WRITE).value();
	remote = pier::mmap::import(dev, local.descriptor().value()).value();
	inv = pier::inventory::create(4).value();
	src = inv.by_data(local, memory[0], 8).value();
	dst = inv.by_addr(local, memory[1], 64).value();
	far_src = inv.by_data(remote, memory[0], 8).value();
	far_dst = inv.by_addr(remote, memory[1], 64).value();
	again = conn.send(src).value();
}

static int call_nothing(void *)
{
	return 0;
}

static void task_done(pier_task *task, void *arg)
{
	*static_cast<long *>(arg) += pier_task_status(task) == 0;
}

/* @submit() and progress until it is done, @n times. */
template <class S> static void repeat(long n, S submit)
{
	for (long i = 0; i < n; i++) {
		must(submit());
		while (done <= i)
			must(pier_pe_progress(pe.get(), 0));
	}
}

void bench_c(long n)
{
	pier_conn *c = conn.get();

	if (!std::strcmp(type, "send")) {
		repeat(n, [=] { return pier_rdma_send(c, src.get(), task_done,
						      &done); });
	} else if (!std::strcmp(type, "read")) {
		repeat(n, [=] {
			pier_buf_reset(dst.get());
			return pier_rdma_read(c, far_src.get(), dst.get(),
					      task_done, &done);
		});
	} else if (!std::strcmp(type, "write")) {
		repeat(n, [=] {
			pier_buf_reset(far_dst.get());
			return pier_rdma_write(c, src.get(), far_dst.get(),
					       task_done, &done);
		});
	} else if (!std::strcmp(type, "copy")) {
		repeat(n, [=] {
			pier_buf_reset(dst.get());
			return pier_dma_copy(dma.get(), src.get(), dst.get(),
					     task_done, &done);
		});
	} else if (!std::strcmp(type, "call")) {
		repeat(n, [=] { return pier_func_call(func.get(), call_nothing,
						      nullptr, task_done,
						      &done); });
	} else {
		pier_task_set_done(again.get(), task_done, &done);
		repeat(n, [=] { return pier_task_submit(again.get(), 0); });
	}
}

void bench_cpp(long n)
{
	auto count = [](pier::task_ref task) { done += task.ok(); };
	auto nothing = [] { return 0; };

	if (!std::strcmp(type, "send")) {
		repeat(n, [&] { return conn.send(src, count).code(); });
	} else if (!std::strcmp(type, "read")) {
		repeat(n, [&] {
			dst.reset_data();
			return conn.read(far_src, dst, count).code();
		});
	} else if (!std::strcmp(type, "write")) {
		repeat(n, [&] {
			far_dst.reset_data();
			return conn.write(src, far_dst, count).code();
		});
	} else if (!std::strcmp(type, "copy")) {
		repeat(n, [&] {
			dst.reset_data();
			return dma.copy(src, dst, count).code();
		});
	} else if (!std::strcmp(type, "call")) {
		repeat(n, [&] { return func.call(nothing, count).code(); });
	} else {
		again.on_done(count);
		repeat(n, [&] { return again.submit().code(); });
	}
}

int main(int argc, char *argv[])
{
	long n = argc > 3 ? std::atol(argv[3]) : 3200;

	if (argc == 2 && !std::strcmp(argv[1], "types")) {
		std::puts("send\nread\nwrite\ncopy\ncall\nsubmit");
		return 0;
	}
	if (argc < 3 || n < 1)
		proc_die("usage: overhead_cpp types | TYPE c|cpp [COUNT]");
	type = argv[1];
	open_all();
	overhead_clock_stop();
	if (!std::strcmp(argv[2], "c"))
		bench_c(n);
	else
		bench_cpp(n);
	if (done != n)
		proc_die("overhead_cpp: %ld of %ld tasks done", done, n);
	std::printf("%ld tasks\n", done);
	std::fflush(stdout);
	std::_Exit(0);	/* the device is none of the list: not closed */
}
