/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_CPP_RENDEZVOUS_HPP
#define PIER_CPP_RENDEZVOUS_HPP

#include <vector>

#include <pier/args.h>
#include <pier/cpp/rdma.hpp>
#include <pier/cpp/sync_event.hpp>
#include <pier/rendezvous.h>

namespace pier {

/* Command line options of programs that connect to a peer. */
inline pier_args rendezvous_args(const char *about = nullptr)
{
	pier_args args = PIER_ARGS_RENDEZVOUS;

	args.about = about;
	return args;
}

/* A connection, and the peer's memory if it was requested. */
struct meeting {
	pier::conn conn;
	pier::mmap remote;
};

/*
 * Connect to the peer that the command line names; export @local unless it is
 * nullptr; get the peer's memory if @get_remote.
 */
inline result<meeting> rendezvous(rdma_ref ctx, const pier_args &args,
				  mmap_ref local, bool get_remote)
{
	pier_conn *c = nullptr;
	pier_mmap *m = nullptr;
	int err = pier_rendezvous(ctx.get(), &args, local.get(), &c,
				  get_remote ? &m : nullptr);

	if (err)
		return status(err);
	return meeting{ conn(c), mmap(m) };
}

/* A connection, and the peer's sync event if it was requested. */
struct event_meeting {
	pier::conn conn;
	pier::sync_event remote;
};

/* The same with sync events instead of memory. */
inline result<event_meeting> rendezvous_event(rdma_ref ctx,
					      const pier_args &args,
					      sync_event_ref local,
					      bool get_remote)
{
	pier_conn *c = nullptr;
	pier_sync_event *e = nullptr;
	int err = pier_rendezvous_event(ctx.get(), &args, local.get(), &c,
					get_remote ? &e : nullptr);

	if (err)
		return status(err);
	return event_meeting{ conn(c), sync_event(e) };
}

/* @count connections without memory, one after the other. */
inline result<std::vector<conn>> rendezvous_many(rdma_ref ctx,
						 const pier_args &args,
						 unsigned int count)
{
	std::vector<pier_conn *> conns(count);
	int err = pier_rendezvous_many(ctx.get(), &args, count, conns.data());

	if (err)
		return status(err);
	return std::vector<conn>(conns.begin(), conns.end());
}

/* Drive the engine until the peers of all have disconnected. */
inline status serve(const std::vector<conn> &conns)
{
	std::vector<pier_conn *> all;

	for (const conn &one : conns)
		all.push_back(one.get());
	return pier_rendezvous_serve_many(
		all.data(), static_cast<unsigned int>(all.size()));
}

/* The command line: 0; or -PIER_EHELP, -PIER_EUSAGE, which were printed. */
inline status parse(pier_args &args, int argc, char *argv[]) noexcept
{
	return pier_args_parse(&args, argc, argv);
}

/* The exit status for what parse() has returned. */
inline int exit_status(status parsed) noexcept
{
	return pier_args_exit(parsed.code());
}

/* Drive the engine until the peer disconnects, or Enter. */
inline status serve(conn_ref one) noexcept
{
	return pier_rendezvous_serve(one.get());
}

} /* namespace pier */

#endif
