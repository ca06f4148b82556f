/* SPDX-License-Identifier: BSD-2-Clause */
/* Operations of a connection, and receives of its context. */
#include "bench/overhead_cpp.hpp"

static pier::rdma rdma;
static pier::conn conn;
static pier::task again;

pier::conn &overhead_conn()
{
	auto cfg = pier::defaults<pier_rdma_config>();

	rdma = pier::rdma::create(overhead_dev).value();
	cfg.no_hello = 1;
	rdma.configure(cfg).or_throw();
	rdma.start(overhead_pe).or_throw();

	auto here = rdma.export_conn().value();
	auto there = rdma.export_conn().value();

	conn = std::move(here.conn);
	conn.connect(there.descriptor).or_throw();
	there.conn.release();		/* destroyed with its context */
	return conn;
}

static void open_conn()
{
	overhead_open(false);
	overhead_conn();
}

static void send_c(long n)
{
	overhead_repeat(n, [c = conn.get()] {
		return pier_rdma_send(c, overhead_src.get(),
				      overhead_task_done, &overhead_done);
	});
}

static void send_cpp(long n)
{
	overhead_repeat(n, [] {
		return conn.send(overhead_src, overhead_count).code();
	});
}

static void send_imm_c(long n)
{
	overhead_repeat(n, [c = conn.get()] {
		return pier_rdma_send_imm(c, overhead_src.get(), 7,
					  overhead_task_done, &overhead_done);
	});
}

static void send_imm_cpp(long n)
{
	overhead_repeat(n, [] {
		return conn.send_imm(overhead_src, 7, overhead_count).code();
	});
}

static void receive_c(long n)
{
	overhead_repeat(n, [r = rdma.get()] {
		pier_buf_reset(overhead_dst.get());
		return pier_rdma_receive(r, overhead_dst.get(),
					 overhead_task_done, &overhead_done);
	});
}

static void receive_cpp(long n)
{
	overhead_repeat(n, [] {
		overhead_dst.reset_data();
		return rdma.receive(overhead_dst, overhead_count).code();
	});
}

static void read_c(long n)
{
	overhead_repeat(n, [c = conn.get()] {
		pier_buf_reset(overhead_dst.get());
		return pier_rdma_read(c, overhead_far_src.get(),
				      overhead_dst.get(), overhead_task_done,
				      &overhead_done);
	});
}

static void read_cpp(long n)
{
	overhead_repeat(n, [] {
		overhead_dst.reset_data();
		return conn.read(overhead_far_src, overhead_dst,
				 overhead_count).code();
	});
}

static void write_c(long n)
{
	overhead_repeat(n, [c = conn.get()] {
		pier_buf_reset(overhead_far_dst.get());
		return pier_rdma_write(c, overhead_src.get(),
				       overhead_far_dst.get(),
				       overhead_task_done, &overhead_done);
	});
}

static void write_cpp(long n)
{
	overhead_repeat(n, [] {
		overhead_far_dst.reset_data();
		return conn.write(overhead_src, overhead_far_dst,
				  overhead_count).code();
	});
}

static void write_imm_c(long n)
{
	overhead_repeat(n, [c = conn.get()] {
		pier_buf_reset(overhead_far_dst.get());
		return pier_rdma_write_imm(c, overhead_src.get(),
					   overhead_far_dst.get(), 7,
					   overhead_task_done, &overhead_done);
	});
}

static void write_imm_cpp(long n)
{
	overhead_repeat(n, [] {
		overhead_far_dst.reset_data();
		return conn.write_imm(overhead_src, overhead_far_dst, 7,
				      overhead_count).code();
	});
}

static void compare_swap_c(long n)
{
	overhead_repeat(n, [c = conn.get()] {
		pier_buf_reset(overhead_dst.get());
		return pier_rdma_compare_swap(c, overhead_far_src.get(),
					      overhead_dst.get(), 0, 1,
					      overhead_task_done,
					      &overhead_done);
	});
}

static void compare_swap_cpp(long n)
{
	overhead_repeat(n, [] {
		overhead_dst.reset_data();
		return conn.compare_swap(overhead_far_src, overhead_dst, 0, 1,
					 overhead_count).code();
	});
}

static void fetch_add_c(long n)
{
	overhead_repeat(n, [c = conn.get()] {
		pier_buf_reset(overhead_dst.get());
		return pier_rdma_fetch_add(c, overhead_far_src.get(),
					   overhead_dst.get(), 1,
					   overhead_task_done, &overhead_done);
	});
}

static void fetch_add_cpp(long n)
{
	overhead_repeat(n, [] {
		overhead_dst.reset_data();
		return conn.fetch_add(overhead_far_src, overhead_dst, 1,
				      overhead_count).code();
	});
}

/* A task that is submitted again. */
static void open_again()
{
	open_conn();
	again = conn.send(overhead_src).value();
}

static void submit_c(long n)
{
	pier_task *task = again.get();

	pier_task_set_done(task, overhead_task_done, &overhead_done);
	overhead_repeat(n, [=] { return pier_task_submit(task, 0); });
}

static void submit_cpp(long n)
{
	again.on_done(overhead_count);
	overhead_repeat(n, [] { return again.submit().code(); });
}

const overhead_case overhead_rdma_cases[] = {
	{ "send", open_conn, send_c, send_cpp },
	{ "send_imm", open_conn, send_imm_c, send_imm_cpp },
	{ "receive", open_conn, receive_c, receive_cpp },
	{ "read", open_conn, read_c, read_cpp },
	{ "write", open_conn, write_c, write_cpp },
	{ "write_imm", open_conn, write_imm_c, write_imm_cpp },
	{ "compare_swap", open_conn, compare_swap_c, compare_swap_cpp },
	{ "fetch_add", open_conn, fetch_add_c, fetch_add_cpp },
	{ "submit", open_again, submit_c, submit_cpp },
	{ nullptr, nullptr, nullptr, nullptr },
};
