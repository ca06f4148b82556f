/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_CPP_COUNTERS_HPP
#define PIER_CPP_COUNTERS_HPP

#include <cstdint>

#include <pier/counters.h>
#include <pier/cpp/handle.hpp>

namespace pier {

/* The value of @name in @counters. */
inline result<std::uint64_t> find_counter(const pier_counters &counters,
					  const char *name)
{
	std::uint64_t ret = 0;
	int err = pier_counters_find(&counters, name, &ret);

	if (err)
		return status(err);
	return ret;
}

/* A snapshot of the counters of processes, and of their last events. */
class counter_list_ref : public handle<pier_counterlist> {
public:
	using handle::handle;

	/* Of process @pid; 0: of all that this user can read. */
	static result<owned<counter_list_ref>> create(int pid = 0)
	{
		return detail::make<counter_list_ref>(pier_counterlist_create,
						      pid);
	}
	static void destroy(pier_counterlist *list) noexcept
	{
		pier_counterlist_destroy(list);
	}

	std::size_t size() const noexcept { return pier_counterlist_count(c_); }

	/* A device or connection; it lives as long as the list. */
	const pier_counted &operator[](std::size_t i) const noexcept
	{
		return *pier_counterlist_get(c_, i);
	}
	result<pier_counters> counters(std::size_t i) const
	{
		auto ret = defaults<pier_counters>();
		int err = pier_counterlist_counters(c_, i, &ret);

		if (err)
			return status(err);
		return ret;
	}

	/* Event @n of device @i in @ret; false: there is none. */
	bool event(std::size_t i, std::size_t n,
		   pier_conn_event &ret) const noexcept
	{
		return pier_counterlist_event(c_, i, n, &ret) > 0;
	}
};

using counter_list = owned<counter_list_ref>;

} /* namespace pier */

#endif
