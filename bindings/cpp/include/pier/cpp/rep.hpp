/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_CPP_REP_HPP
#define PIER_CPP_REP_HPP

#include <cstdint>

#include <pier/cpp/device.hpp>
#include <pier/rep.h>

namespace pier {

/* What is known of a representor; it lives as long as its list, or rep. */
class rep_info : public handle<const pier_repinfo> {
public:
	using handle::handle;

	pier_rep_kind kind() const noexcept { return pier_repinfo_kind(c_); }
	std::uint32_t controller() const noexcept
	{
		return pier_repinfo_controller(c_);
	}
	std::uint32_t pf() const noexcept { return pier_repinfo_pf(c_); }
	std::uint32_t number() const noexcept
	{
		return pier_repinfo_number(c_);
	}
	const char *port() const noexcept { return pier_repinfo_port(c_); }
	const char *netdev() const noexcept { return pier_repinfo_netdev(c_); }
	const char *vuid() const noexcept { return pier_repinfo_vuid(c_); }
	const char *parent() const noexcept { return pier_repinfo_parent(c_); }
	const char *pci() const noexcept { return pier_repinfo_pci(c_); }
	bool is_pci(const char *pci) const noexcept
	{
		return pier_repinfo_is_pci(c_, pci) != 0;
	}
};

/* A snapshot of the representors of a device. */
class rep_list_ref : public handle<pier_replist> {
public:
	using handle::handle;

	static result<owned<rep_list_ref>>
	create(device_info parent, unsigned int kinds = PIER_REP_ALL)
	{
		return detail::make<rep_list_ref>(pier_replist_create,
						  parent.get(), kinds);
	}
	static void destroy(pier_replist *list) noexcept
	{
		pier_replist_destroy(list);
	}

	std::size_t size() const noexcept { return pier_replist_count(c_); }
	rep_info operator[](std::size_t i) const noexcept
	{
		return pier_replist_get(c_, i);
	}
	result<rep_info> find(const char *name) const
	{
		const pier_repinfo *ret = nullptr;
		int err = pier_replist_find(c_, name, &ret);

		if (err)
			return status(err);
		return rep_info(ret);
	}
};

using rep_list = owned<rep_list_ref>;

/* An open representor. */
class rep_ref : public handle<pier_rep> {
public:
	using handle::handle;

	static result<owned<rep_ref>> open(rep_info info)
	{
		return detail::make<rep_ref>(pier_rep_open, info.get());
	}
	static result<owned<rep_ref>> open(device_ref dev, const char *name)
	{
		return detail::make<rep_ref>(pier_rep_open_by_name, dev.get(),
					     name);
	}
	static void destroy(pier_rep *rep) noexcept { pier_rep_close(rep); }

	rep_info info() const noexcept { return pier_rep_info(c_); }
};

using rep = owned<rep_ref>;

} /* namespace pier */

#endif
