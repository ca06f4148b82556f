/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_CPP_CONN_WAITER_HPP
#define PIER_CPP_CONN_WAITER_HPP

#include <pier/conn.h>

namespace pier {

namespace detail {

/*
 * What waits for a change of a connection, in a list of its thread.  A
 * connection that is destroyed reports nothing: its owner calls destroyed().
 */
class conn_waiter {
public:
	conn_waiter(const conn_waiter &) = delete;
	conn_waiter &operator=(const conn_waiter &) = delete;

	/* End the wait of all that wait for @conn, which was destroyed. */
	static void destroyed(pier_conn *conn) noexcept
	{
		conn_waiter *ended = nullptr, *next;

		for (conn_waiter *at = first_; at; at = next) {
			next = at->next_;
			if (at->awaited_ == conn) {
				at->remove();
				at->insert(ended);
			}
		}
		while (ended) {
			conn_waiter *one = ended;

			one->remove();
			one->lost();
		}
	}

protected:
	conn_waiter() noexcept = default;
	~conn_waiter() { remove(); }

	void insert(pier_conn *awaited) noexcept
	{
		awaited_ = awaited;
		insert(first_);
	}
	void remove() noexcept
	{
		if (!link_)
			return;
		*link_ = next_;
		if (next_)
			next_->link_ = link_;
		link_ = nullptr;
	}

	/* The connection no longer exists; this may destroy the object. */
	virtual void lost() noexcept = 0;

private:
	void insert(conn_waiter *&first) noexcept
	{
		next_ = first;
		link_ = &first;
		if (next_)
			next_->link_ = &next_;
		first = this;
	}

	/* One of the thread, also if a shared object hides its symbols. */
	[[gnu::visibility("default")]]
	inline static thread_local conn_waiter *first_ = nullptr;

	pier_conn *awaited_ = nullptr;
	conn_waiter *next_ = nullptr;
	conn_waiter **link_ = nullptr;	/* what points to this; or NULL */
};

} /* namespace detail */

} /* namespace pier */

#endif
