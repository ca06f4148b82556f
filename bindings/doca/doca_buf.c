/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "doca_buf_impl.h"
#include "doca_fail.h"

/* The first of a list has the references; a free buffer has no mmap. */
static doca_error_t check_first(const struct doca_buf *buf)
{
	const struct pier_buf *b = pier__doca_buf(buf);

	if (!buf)
		return DOCA_ERROR_INVALID_VALUE;
	if (!pier_buf_mmap(b))
		return pier__doca_fail(DOCA_ERROR_BAD_STATE,
				       "buf: it has no references");
	if (!pier_buf_refs(b))
		return pier__doca_fail(DOCA_ERROR_NOT_PERMITTED,
				       "buf: not the first of its list");
	return DOCA_SUCCESS;
}

static void put_count(const struct doca_buf *buf, uint16_t *ret)
{
	if (ret)
		*ret = (uint16_t)pier_buf_refs(pier__doca_buf(buf));
}

doca_error_t doca_buf_inc_refcount(struct doca_buf *buf, uint16_t *refcount)
{
	doca_error_t error = check_first(buf);
	uint16_t before;

	if (error)
		return error;
	put_count(buf, &before);
	error = pier__doca_error(pier_buf_ref(pier__doca_buf(buf)));
	if (!error && refcount)
		*refcount = before;
	return error;
}

doca_error_t doca_buf_dec_refcount(struct doca_buf *buf, uint16_t *refcount)
{
	doca_error_t error = check_first(buf);

	if (error)
		return error;
	put_count(buf, refcount);
	pier_buf_put(pier__doca_buf(buf));
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_get_refcount(const struct doca_buf *buf,
				   uint16_t *refcount)
{
	if (!buf || !refcount)
		return DOCA_ERROR_INVALID_VALUE;
	put_count(buf, refcount);
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_get_len(const struct doca_buf *buf, size_t *len)
{
	if (!buf || !len)
		return DOCA_ERROR_INVALID_VALUE;
	*len = pier_buf_len(pier__doca_buf(buf));
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_get_head(const struct doca_buf *buf, void **head)
{
	if (!buf || !head)
		return DOCA_ERROR_INVALID_VALUE;
	*head = pier_buf_head(pier__doca_buf(buf));
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_get_data_len(const struct doca_buf *buf, size_t *data_len)
{
	if (!buf || !data_len)
		return DOCA_ERROR_INVALID_VALUE;
	*data_len = pier_buf_data_len(pier__doca_buf(buf));
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_get_data(const struct doca_buf *buf, void **data)
{
	if (!buf || !data)
		return DOCA_ERROR_INVALID_VALUE;
	*data = pier_buf_data(pier__doca_buf(buf));
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_set_data(struct doca_buf *buf, void *data,
			       size_t data_len)
{
	if (!buf)
		return DOCA_ERROR_INVALID_VALUE;
	return pier__doca_error(pier_buf_set_data(pier__doca_buf(buf), data,
						  data_len));
}

doca_error_t doca_buf_set_data_len(struct doca_buf *buf, size_t data_len)
{
	if (!buf)
		return DOCA_ERROR_INVALID_VALUE;
	return doca_buf_set_data(buf, pier_buf_data(pier__doca_buf(buf)),
				 data_len);
}

doca_error_t doca_buf_reset_data_len(struct doca_buf *buf)
{
	if (!buf)
		return DOCA_ERROR_INVALID_VALUE;
	pier_buf_reset(pier__doca_buf(buf));
	return DOCA_SUCCESS;
}
