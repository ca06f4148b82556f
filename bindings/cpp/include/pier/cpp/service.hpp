/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_CPP_SERVICE_HPP
#define PIER_CPP_SERVICE_HPP

#include <pier/cpp/handle.hpp>
#include <pier/service.h>

namespace pier {

/* A snapshot of what processes export to others. */
class service_list_ref : public handle<pier_servicelist> {
public:
	using handle::handle;

	/* Of process @pid; 0: of all that this user can see. */
	static result<owned<service_list_ref>> create(int pid = 0)
	{
		return detail::make<service_list_ref>(pier_servicelist_create,
						      pid);
	}
	static void destroy(pier_servicelist *list) noexcept
	{
		pier_servicelist_destroy(list);
	}

	std::size_t size() const noexcept { return pier_servicelist_count(c_); }
	const pier_service &operator[](std::size_t i) const noexcept
	{
		return *pier_servicelist_get(c_, i);
	}
};

using service_list = owned<service_list_ref>;

} /* namespace pier */

#endif
