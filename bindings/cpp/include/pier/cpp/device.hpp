/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_CPP_DEVICE_HPP
#define PIER_CPP_DEVICE_HPP

#include <cstdint>

#include <pier/counters.h>
#include <pier/cpp/handle.hpp>
#include <pier/dev.h>

namespace pier {

/* What is known of a device; it lives as long as its list, or device. */
class device_info : public handle<const pier_devinfo> {
public:
	using handle::handle;

	const char *name() const noexcept { return pier_devinfo_name(c_); }
	const char *kind() const noexcept { return pier_devinfo_kind(c_); }
	const char *netdev() const noexcept { return pier_devinfo_netdev(c_); }
	const char *pci() const noexcept { return pier_devinfo_pci(c_); }
	unsigned int port() const noexcept { return pier_devinfo_port(c_); }
	pier_link link() const noexcept { return pier_devinfo_link(c_); }
	bool active() const noexcept { return pier_devinfo_active(c_) != 0; }
	unsigned int lid() const noexcept { return pier_devinfo_lid(c_); }
	unsigned int mtu() const noexcept { return pier_devinfo_mtu(c_); }

	result<pier_gid> gid(std::size_t i) const
	{
		pier_gid ret;
		int err = pier_devinfo_gid(c_, i, &ret);

		if (err)
			return status(err);
		return ret;
	}
	result<std::uint64_t> limit(pier_limit which) const
	{
		std::uint64_t ret;
		int err = pier_devinfo_limit(c_, which, &ret);

		if (err)
			return status(err);
		return ret;
	}

	/* Whether it supports it; the message has the reason if not. */
	status can(enum pier_task_type type) const noexcept
	{
		return pier_devinfo_can_task(c_, type);
	}
	status can_export(pier_export kind) const noexcept
	{
		return pier_devinfo_can_export(c_, kind);
	}
	status can_import(pier_export kind) const noexcept
	{
		return pier_devinfo_can_import(c_, kind);
	}

	/* Whether connections may choose GID @i. */
	status can_gid(std::size_t i) const noexcept
	{
		return pier_devinfo_can_gid(c_, i);
	}
	status has(pier_feature feature) const noexcept
	{
		return pier_devinfo_has(c_, feature);
	}
};

/* A snapshot of all devices. */
class device_list_ref : public handle<pier_devlist> {
public:
	using handle::handle;

	static result<owned<device_list_ref>> create()
	{
		return detail::make<device_list_ref>(pier_devlist_create);
	}
	static void destroy(pier_devlist *list) noexcept
	{
		pier_devlist_destroy(list);
	}

	std::size_t size() const noexcept { return pier_devlist_count(c_); }
	device_info operator[](std::size_t i) const noexcept
	{
		return pier_devlist_get(c_, i);
	}
	const char *hint() const noexcept { return pier_devlist_hint(c_); }

	/* RDMA device @i that is not listed, nullptr: no more; and why. */
	const char *missing(std::size_t i) const noexcept
	{
		return pier_devlist_missing(c_, i);
	}
	const char *missing_text(std::size_t i) const noexcept
	{
		return pier_devlist_missing_text(c_, i);
	}

	result<device_info> find(const char *name) const
	{
		const pier_devinfo *ret = nullptr;
		int err = pier_devlist_find(c_, name, &ret);

		if (err)
			return status(err);
		return device_info(ret);
	}
};

using device_list = owned<device_list_ref>;

/* An open device, which must outlive the objects on it. */
class device_ref : public handle<pier_dev> {
public:
	using handle::handle;

	/* nullptr or "": the default device. */
	static result<owned<device_ref>> open(const char *name = nullptr)
	{
		return detail::make<device_ref>(pier_dev_open, name);
	}
	static void destroy(pier_dev *dev) noexcept { pier_dev_close(dev); }

	device_info info() const noexcept { return pier_dev_info(c_); }
	const char *name() const noexcept { return info().name(); }

	/* Mmaps and contexts that exist on it. */
	std::pair<unsigned int, unsigned int> users() const noexcept
	{
		unsigned int mmaps = 0, ctxs = 0;

		pier_dev_users(c_, &mmaps, &ctxs);
		return { mmaps, ctxs };
	}

	result<pier_counters> counters() const
	{
		auto ret = defaults<pier_counters>();
		int err = pier_dev_counters(c_, &ret);

		if (err)
			return status(err);
		return ret;
	}
};

using device = owned<device_ref>;

} /* namespace pier */

#endif
