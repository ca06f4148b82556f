/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DOCA_BUF_IMPL_H
#define DOCA_BUF_IMPL_H

#include <pier/pier.h>

#include <doca_buf.h>

/* A buffer is pier's own. */
static inline struct pier_buf *pier__doca_buf(const struct doca_buf *buf)
{
	return (struct pier_buf *)(uintptr_t)buf;
}

static inline struct doca_buf *pier__doca_of_buf(struct pier_buf *buf)
{
	return (struct doca_buf *)buf;
}

#endif
