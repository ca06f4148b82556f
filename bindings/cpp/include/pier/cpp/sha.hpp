/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_CPP_SHA_HPP
#define PIER_CPP_SHA_HPP

#include <pier/cpp/buf.hpp>
#include <pier/cpp/ctx.hpp>
#include <pier/sha.h>

namespace pier {

/* A SHA context: digests as tasks. */
class sha_ref : public handle<pier_sha> {
public:
	using handle::handle;

	static result<owned<sha_ref>> create()
	{
		return detail::make<sha_ref>(pier_sha_create);
	}
	static void destroy(pier_sha *sha) noexcept { pier_sha_destroy(sha); }
	static std::size_t digest_len(pier_sha_algorithm algorithm) noexcept
	{
		return pier_sha_digest_len(algorithm);
	}

	status configure(const pier_sha_config &cfg) const noexcept
	{
		return pier_sha_configure(c_, &cfg);
	}
	pier_sha_config config() const noexcept
	{
		auto ret = defaults<pier_sha_config>();

		pier_sha_get_config(c_, &ret);
		return ret;
	}
	simple_ctx_ref ctx() const noexcept { return pier_sha_ctx(c_); }
	status start(engine_ref pe) const noexcept { return ctx().start(pe); }

	/* Append the digest of the data of @src to @dst. */
	result<task> hash(pier_sha_algorithm algorithm, buf_ref src,
			  buf_ref dst) const
	{
		return detail::make<task_ref>(pier_sha_task_hash, c_,
					      algorithm, src.get(), dst.get());
	}
	template <class F>
	status hash(pier_sha_algorithm algorithm, buf_ref src, buf_ref dst,
		    F &fn) const noexcept
	{
		return pier_sha_hash(c_, algorithm, src.get(), dst.get(),
				     detail::run_task<F>, detail::arg_of(fn));
	}
};

using sha = owned<sha_ref>;

} /* namespace pier */

#endif
