/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_CPP_DMA_HPP
#define PIER_CPP_DMA_HPP

#include <pier/cpp/buf.hpp>
#include <pier/cpp/ctx.hpp>
#include <pier/dma.h>
#include <pier/dma_export.h>

namespace pier {

/* A DMA context: copies as tasks. */
class dma_ref : public handle<pier_dma> {
public:
	using handle::handle;

	static result<owned<dma_ref>> create(device_ref dev)
	{
		return detail::make<dma_ref>(pier_dma_create, dev.get());
	}
	static void destroy(pier_dma *dma) noexcept { pier_dma_destroy(dma); }

	status configure(const pier_dma_config &cfg) const noexcept
	{
		return pier_dma_configure(c_, &cfg);
	}
	pier_dma_config config() const noexcept
	{
		auto ret = defaults<pier_dma_config>();

		pier_dma_get_config(c_, &ret);
		return ret;
	}
	simple_ctx_ref ctx() const noexcept { return pier_dma_ctx(c_); }
	device_ref device() const noexcept { return pier_dma_dev(c_); }
	status start(engine_ref pe) const noexcept { return ctx().start(pe); }

	/* Append the data of @src to @dst. */
	result<task> copy(buf_ref src, buf_ref dst) const
	{
		return detail::make<task_ref>(pier_dma_task_copy, c_,
					      src.get(), dst.get());
	}
	template <class F>
	status copy(buf_ref src, buf_ref dst, F &fn) const noexcept
	{
		return pier_dma_copy(c_, src.get(), dst.get(),
				     detail::run_task<F>, detail::arg_of(fn));
	}
};

using dma = owned<dma_ref>;

/* Memory that DMA contexts of other processes use. */
class dma_export_ref : public handle<pier_dma_export> {
public:
	using handle::handle;

	static result<owned<dma_export_ref>> create(mmap_ref memory,
						    device_ref dev)
	{
		return detail::make<dma_export_ref>(pier_dma_export_create,
						    memory.get(), dev.get());
	}
	static void destroy(pier_dma_export *exported) noexcept
	{
		pier_dma_export_destroy(exported);
	}

	/* A secret, which lives as long as this. */
	bytes descriptor() const noexcept
	{
		bytes ret;

		pier_dma_export_desc(c_, &ret.data, &ret.size);
		return ret;
	}

	/* Until a peer has connected, and none is connected any more. */
	status wait(int timeout_ms) const noexcept
	{
		return pier_dma_export_wait(c_, timeout_ms);
	}
};

using dma_export = owned<dma_export_ref>;

/* The memory of the export of another process, for DMA contexts on @dev. */
inline result<mmap> dma_import(device_ref dev, bytes desc)
{
	return detail::make<mmap_ref>(pier_dma_import, dev.get(), desc.data,
				      desc.size);
}

} /* namespace pier */

#endif
