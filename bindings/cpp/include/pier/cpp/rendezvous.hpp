/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_CPP_RENDEZVOUS_HPP
#define PIER_CPP_RENDEZVOUS_HPP

#include <pier/cpp/rdma.hpp>
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
inline result<meeting> rendezvous(rdma_ref rdma, const pier_args &args,
				  mmap_ref local, bool get_remote)
{
	pier_conn *c = nullptr;
	pier_mmap *m = nullptr;
	int err = pier_rendezvous(rdma.get(), &args, local.get(), &c,
				  get_remote ? &m : nullptr);

	if (err)
		return status(err);
	return meeting{ conn(c), mmap(m) };
}

/* Drive the engine until the peer disconnects, or Enter. */
inline status serve(conn_ref conn) noexcept
{
	return pier_rendezvous_serve(conn.get());
}

} /* namespace pier */

#endif
