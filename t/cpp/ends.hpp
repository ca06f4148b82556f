/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_CPP_ENDS_HPP
#define PIER_T_CPP_ENDS_HPP

#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

/* The binding compiles where warnings of shadowed names are errors. */
#include <pier/pier.h>
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wshadow"
#include <pier/pier.hpp>
#pragma GCC diagnostic pop

extern "C" {
#include "t/lib/limit.h"
#include "t/lib/tap.h"
}

/* One end: an RDMA context, a connection, and memory that its peer may use. */
struct end {
	pier::rdma rdma;
	std::vector<char> memory;
	pier::mmap mmap;
	pier::mmap remote;	/* the other end's */
	pier::inventory inv;
	pier::conn conn;
	pier::bytes desc;

	end(pier::device_ref dev, pier::engine_ref pe)
		: rdma(pier::rdma::create(dev).value()), memory(4096),
		  mmap(pier::mmap::map(dev, memory, PIER_LOCAL_WRITE |
				       PIER_REMOTE_READ | PIER_REMOTE_WRITE |
				       PIER_REMOTE_ATOMIC).value()),
		  inv(pier::inventory::create(16).value())
	{
		rdma.start(pe).or_throw();
		auto exported = rdma.export_conn().value();

		conn = std::move(exported.conn);
		desc = exported.descriptor;
	}

	void fill(const char *text)
	{
		std::strcpy(memory.data(), text);
	}

	/* @text in this end's memory, as a source. */
	pier::buf source(const char *text)
	{
		fill(text);
		return inv.by_data(mmap, memory.data(),
				   std::strlen(text) + 1).value();
	}

	/* The second half of this end's memory, as a destination. */
	pier::buf target()
	{
		return inv.by_addr(mmap, memory.data() + 2048, 2048).value();
	}
	const char *received() const { return memory.data() + 2048; }
};

/* Two ends of a connection, in one process and on one engine. */
struct ends {
	pier::device dev = pier::device::open().value();
	pier::engine pe = pier::engine::create().value();
	end a{ dev, pe };
	end b{ dev, pe };

	ends()
	{
		a.conn.connect(b.desc).or_throw();
		b.conn.connect(a.desc).or_throw();
		a.conn.wait(LIMIT_MS).or_throw();
		b.conn.wait(LIMIT_MS).or_throw();
		a.remote = memory_of(b);
		b.remote = memory_of(a);
	}

	/* What the other end has of @e. */
	pier::mmap memory_of(const end &e)
	{
		auto desc = e.mmap.descriptor().value();

		return pier::mmap::import(dev, desc).value();
	}

	/* Drive the engine until @done() holds. */
	template <class P> bool until(P done)
	{
		return IS(pe.wait_until(done, LIMIT_MS).code(), 0);
	}
};

#endif
