/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_CPP_CTX_HPP
#define PIER_CPP_CTX_HPP

#include <cerrno>

#include <pier/cpp/engine.hpp>
#include <pier/ctx.h>

namespace pier {

class ctx_ref;

/*
 * What a context reports; a program derives from it what it has interest in,
 * and keeps it as long as the context.  Called by the engine; may not throw.
 */
class ctx_events {
public:
	virtual void state_changed(ctx_ref ctx, enum pier_ctx_state prev,
				   enum pier_ctx_state next) noexcept;

protected:
	~ctx_events() = default;
};

/* A context: what is started on an engine and has tasks. */
class ctx_ref : public handle<pier_ctx> {
public:
	using handle::handle;

	/* Success also if it is STARTING only; its events report the rest. */
	status start(engine_ref pe) const noexcept
	{
		return begun(pier_ctx_start(c_, pe.get()));
	}

	/* Success also if it is STOPPING only. */
	status stop() const noexcept { return begun(pier_ctx_stop(c_)); }
	status stop_wait(int timeout_ms) const noexcept
	{
		return pier_ctx_stop_wait(c_, timeout_ms);
	}

	enum pier_ctx_state state() const noexcept
	{
		return pier_ctx_state(c_);
	}
	const char *state_name() const noexcept
	{
		return pier_ctx_state_name(state());
	}
	bool running() const noexcept { return state() == PIER_CTX_RUNNING; }
	engine_ref engine() const noexcept { return pier_ctx_pe(c_); }
	std::size_t inflight() const noexcept { return pier_ctx_inflight(c_); }
	void flush() const noexcept { pier_ctx_flush(c_); }
	status set_task_timeout(int timeout_ms) const noexcept
	{
		return pier_ctx_set_task_timeout_ms(c_, timeout_ms);
	}

private:
	static int begun(int err) noexcept
	{
		return err == -EINPROGRESS ? 0 : err;
	}
};

/* A context whose only events are the changes of its state. */
class simple_ctx_ref : public ctx_ref {
public:
	using ctx_ref::ctx_ref;

	/* The user data of the context is taken by @events. */
	void set_events(ctx_events &events) const noexcept
	{
		pier_ctx_set_user_data(c_, &events);
		pier_ctx_set_state_changed(c_, changed);
	}

private:
	static void changed(pier_ctx *ctx, enum pier_ctx_state prev,
			    enum pier_ctx_state next, void *arg) noexcept
	{
		static_cast<ctx_events *>(arg)->state_changed(ctx, prev, next);
	}
};

inline void ctx_events::state_changed(ctx_ref, enum pier_ctx_state,
				      enum pier_ctx_state) noexcept
{
}

} /* namespace pier */

#endif
