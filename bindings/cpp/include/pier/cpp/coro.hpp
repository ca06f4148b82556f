/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_CPP_CORO_HPP
#define PIER_CPP_CORO_HPP

#ifdef __cpp_impl_coroutine

#include <cerrno>
#include <coroutine>
#include <exception>
#include <optional>
#include <utility>

#include <pier/cpp/conn.hpp>
#include <pier/cpp/engine.hpp>

namespace pier {

namespace detail {

/*
 * Waits for one task, which it owns: it is submitted when the coroutine is
 * suspended, and resumes that in the task's callback.  If the coroutine is
 * destroyed before, the task is cancelled, and the engine driven until it has
 * ended, so that nothing is written to memory of the coroutine any more;
 * inside a callback it ends in a later round.
 */
class task_awaiter {
public:
	explicit task_awaiter(result<task> taken) : taken_(std::move(taken)) { }
	task_awaiter(const task_awaiter &) = delete;
	task_awaiter &operator=(const task_awaiter &) = delete;

	~task_awaiter()
	{
		if (taken_ && taken_->get() &&
		    taken_->code() == -EINPROGRESS) {
			pier_task_set_done(taken_->get(), ignore, nullptr);
			static_cast<void>(taken_->wait(0));
		}
	}

	bool await_ready() const noexcept { return !taken_; }

	bool await_suspend(std::coroutine_handle<> awaiting)
	{
		awaiting_ = awaiting;
		pier_task_set_done(taken_->get(), resume, this);
		status submitted = taken_->submit();

		if (!submitted)
			taken_ = submitted;
		return submitted.ok();
	}

	/* The completed task, with what it received; or its error. */
	result<task> await_resume()
	{
		if (taken_ && !taken_->ok())
			return taken_->error();
		if (taken_)	/* the awaiter ends, the task may go on */
			pier_task_set_done(taken_->get(), nullptr, nullptr);
		return std::move(taken_);
	}

private:
	static void resume(pier_task *, void *arg) noexcept
	{
		static_cast<task_awaiter *>(arg)->awaiting_.resume();
	}
	static void ignore(pier_task *, void *) noexcept { }

	result<task> taken_;
	std::coroutine_handle<> awaiting_;
};

/* Waits until a connection is connected, has failed, has ended or is lost. */
class conn_awaiter final : private conn_waiter {
public:
	explicit conn_awaiter(conn_ref awaited) noexcept : conn_(awaited) { }
	~conn_awaiter()
	{
		if (awaiting_)
			conn_.no_state_callable();
	}

	bool await_ready() const noexcept
	{
		return conn_.state() != PIER_CONN_INIT;
	}
	void await_suspend(std::coroutine_handle<> awaiting) noexcept
	{
		awaiting_ = awaiting;
		conn_.on_state(*this);
		insert(conn_.get());
	}
	/* Its failure, whose text wait() has; without one: -EINVAL. */
	status await_resume() const noexcept
	{
		return pier_conn_error(conn_.get()) ? conn_.wait(0) : 0;
	}

	/* The state has changed. */
	void operator()(conn_ref, enum pier_conn_state,
			enum pier_conn_state next)
	{
		if (next == PIER_CONN_INIT)
			return;
		remove();
		conn_.no_state_callable();
		std::exchange(awaiting_, nullptr).resume();
	}

private:
	void lost() noexcept override
	{
		conn_ = nullptr;
		std::exchange(awaiting_, nullptr).resume();
	}

	conn_ref conn_;
	std::coroutine_handle<> awaiting_;
};

template <class T> class coro_promise;

} /* namespace detail */

/*
 * co_await connected(conn): until it is, or has failed, which is the result;
 * if it has ended without a failure it is not connected any more.  -EINVAL: its
 * owner has destroyed it, or rejected it.  The user data of the connection is
 * taken meanwhile.
 */
inline detail::conn_awaiter connected(conn_ref awaited) noexcept
{
	return detail::conn_awaiter(awaited);
}

/* co_await conn.read(src, dst): submit the task, and wait until it is done. */
inline detail::task_awaiter operator co_await(result<task> &&taken)
{
	return detail::task_awaiter(std::move(taken));
}
inline detail::task_awaiter operator co_await(task &&taken)
{
	return detail::task_awaiter(result<task>(std::move(taken)));
}

/*
 * A coroutine that has not begun: it runs when it is awaited by another, or
 * by run().  It belongs to the engine's thread, and owns its frame; one that
 * was moved from has none, and only done() may be called.
 */
template <class T = void> class [[nodiscard]] coro {
public:
	using promise_type = detail::coro_promise<T>;
	using handle_type = std::coroutine_handle<promise_type>;

	explicit coro(handle_type frame) noexcept : frame_(frame) { }
	coro(coro &&other) noexcept
		: frame_(std::exchange(other.frame_, nullptr)),
		  started_(std::exchange(other.started_, false)) { }
	coro &operator=(coro &&other) noexcept
	{
		std::swap(frame_, other.frame_);
		std::swap(started_, other.started_);
		return *this;
	}
	~coro()
	{
		if (frame_)
			frame_.destroy();
	}

	/* Begin, until the first operation that it waits for. */
	void start()
	{
		if (!started_)
			resume_first();
	}
	bool done() const noexcept { return !frame_ || frame_.done(); }

	/* What it has returned, once done; an exception of its is thrown. */
	T get() { return frame_.promise().take(); }

	bool await_ready() const noexcept { return done(); }
	std::coroutine_handle<> await_suspend(std::coroutine_handle<> awaiting)
	{
		frame_.promise().awaiting = awaiting;
		if (started_)
			return std::noop_coroutine();
		started_ = true;
		return frame_;
	}
	T await_resume() { return get(); }

private:
	void resume_first()
	{
		started_ = true;
		frame_.resume();
	}

	handle_type frame_;
	bool started_ = false;
};

namespace detail {

/* What promises of coroutines have in common. */
class coro_promise_base {
public:
	/* Continue with the coroutine that waits for this one. */
	struct final_awaiter {
		bool await_ready() const noexcept { return false; }
		template <class P> std::coroutine_handle<>
		await_suspend(std::coroutine_handle<P> ended) const noexcept
		{
			auto next = ended.promise().awaiting;

			return next ? next : std::noop_coroutine();
		}
		void await_resume() const noexcept { }
	};

	std::suspend_always initial_suspend() const noexcept { return {}; }
	final_awaiter final_suspend() const noexcept { return {}; }

	void unhandled_exception() noexcept
	{
#if PIER_CPP_EXCEPTIONS
		thrown_ = std::current_exception();
#else
		std::terminate();
#endif
	}

	std::coroutine_handle<> awaiting;

protected:
	void rethrow() const
	{
#if PIER_CPP_EXCEPTIONS
		if (thrown_)
			std::rethrow_exception(thrown_);
#endif
	}

private:
	std::exception_ptr thrown_;
};

template <class T> class coro_promise : public coro_promise_base {
public:
	coro<T> get_return_object()
	{
		return coro<T>(coro<T>::handle_type::from_promise(*this));
	}
	template <class U> void return_value(U &&value)
	{
		value_.emplace(std::forward<U>(value));
	}
	T take()
	{
		rethrow();
		return std::move(*value_);
	}

private:
	std::optional<T> value_;
};

template <> class coro_promise<void> : public coro_promise_base {
public:
	coro<void> get_return_object()
	{
		return coro<void>(coro<void>::handle_type::from_promise(*this));
	}
	void return_void() const noexcept { }
	void take() { rethrow(); }
};

} /* namespace detail */

/*
 * Begin @work unless it has begun, and drive @pe until it is done.
 * Errors: -ETIMEDOUT, there was no event for @timeout_ms milliseconds, below
 * 0: without limit; -EBUSY, in a callback.  @work may be run again then.
 */
template <class T>
status run(engine_ref pe, coro<T> &work, int timeout_ms = -1)
{
	work.start();
	return pe.wait_until([&] { return work.done(); }, timeout_ms);
}

/* The same, and return what it returned; it is destroyed on failure. */
template <class T> result<T> run(engine_ref pe, coro<T> &&work,
				 int timeout_ms = -1)
{
	status done = run(pe, work, timeout_ms);

	if (!done)
		return done;
	return work.get();
}
inline status run(engine_ref pe, coro<status> &&work, int timeout_ms = -1)
{
	status done = run(pe, work, timeout_ms);

	return done ? work.get() : done;
}
inline status run(engine_ref pe, coro<void> &&work, int timeout_ms = -1)
{
	status done = run(pe, work, timeout_ms);

	if (done)
		work.get();
	return done;
}

} /* namespace pier */

#endif /* __cpp_impl_coroutine */

#endif
