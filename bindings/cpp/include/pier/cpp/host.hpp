/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_CPP_HOST_HPP
#define PIER_CPP_HOST_HPP

#include <cstdint>

#include <pier/cpp/rdma.hpp>
#include <pier/host.h>

namespace pier {

/* RDMA contexts on all devices of this host, which listen on one port. */
class host_ref : public handle<pier_host> {
public:
	using handle::handle;

	static result<owned<host_ref>>
	create(engine_ref pe, const pier_host_config *cfg = nullptr)
	{
		return detail::make<host_ref>(pier_host_create, pe.get(), cfg);
	}

	/* @events are those of each context, @each its configuration. */
	static result<owned<host_ref>> create(engine_ref pe,
					      rdma_events &events,
					      const pier_rdma_config *each =
						      nullptr)
	{
		auto cfg = defaults<pier_host_config>();

		cfg.rdma = each;
		cfg.request = detail::run_event<&rdma_events::requested>;
		cfg.established = detail::run_event<&rdma_events::established>;
		cfg.failure = detail::run_event<&rdma_events::failed>;
		cfg.disconnected =
			detail::run_event<&rdma_events::disconnected>;
		cfg.user_data = static_cast<ctx_events *>(&events);
		return create(pe, &cfg);
	}
	static void destroy(pier_host *host) noexcept
	{
		pier_host_destroy(host);
	}

	std::size_t size() const noexcept { return pier_host_count(c_); }
	const char *name(std::size_t i) const noexcept
	{
		return pier_host_name(c_, i);
	}

	/* Empty: the device takes no part, for the reason in error(). */
	device_ref device(std::size_t i) const noexcept
	{
		return pier_host_dev(c_, i);
	}
	rdma_ref rdma(std::size_t i) const noexcept
	{
		return pier_host_rdma(c_, i);
	}
	pier::error error(std::size_t i) const
	{
		return { pier_host_error(c_, i), pier_host_error_text(c_, i) };
	}

	status listen(const pier_listen_config &cfg) const noexcept
	{
		return pier_host_listen(c_, &cfg);
	}
	status listen(std::uint16_t port) const noexcept
	{
		auto cfg = defaults<pier_listen_config>();

		cfg.port = port;
		return listen(cfg);
	}
	void stop_listening() const noexcept { pier_host_stop_listening(c_); }
	std::uint16_t port() const noexcept { return pier_host_port(c_); }

	/* The device by which @one came; size(): it is none of these. */
	std::size_t find(conn_ref one) const noexcept
	{
		return pier_host_find(c_, one.get());
	}
};

using host = owned<host_ref>;

} /* namespace pier */

#endif
