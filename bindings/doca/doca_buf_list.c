/* SPDX-License-Identifier: BSD-2-Clause */
#include "doca_buf_impl.h"
#include "doca_fail.h"

doca_error_t doca_buf_get_next_in_list(struct doca_buf *buf,
				       struct doca_buf **next_buf)
{
	if (!buf || !next_buf)
		return DOCA_ERROR_INVALID_VALUE;
	*next_buf = pier__doca_of_buf(pier_buf_next(pier__doca_buf(buf)));
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_get_last_in_list(struct doca_buf *buf,
				       struct doca_buf **last_buf)
{
	struct pier_buf *last = pier__doca_buf(buf);

	if (!buf || !last_buf)
		return DOCA_ERROR_INVALID_VALUE;
	while (pier_buf_next(last))
		last = pier_buf_next(last);
	*last_buf = pier__doca_of_buf(last);
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_is_last_in_list(const struct doca_buf *buf,
				      uint8_t *is_last)
{
	if (!buf || !is_last)
		return DOCA_ERROR_INVALID_VALUE;
	*is_last = !pier_buf_next(pier__doca_buf(buf));
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_is_first_in_list(const struct doca_buf *buf,
				       uint8_t *is_first)
{
	if (!buf || !is_first)
		return DOCA_ERROR_INVALID_VALUE;
	*is_first = pier_buf_refs(pier__doca_buf(buf)) > 0;
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_is_in_list(const struct doca_buf *buf,
				 uint8_t *is_in_list)
{
	const struct pier_buf *b = pier__doca_buf(buf);

	if (!buf || !is_in_list)
		return DOCA_ERROR_INVALID_VALUE;
	*is_in_list = pier_buf_next(b) || !pier_buf_refs(b);
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_get_list_len(const struct doca_buf *buf,
				   uint32_t *num_elements)
{
	if (!buf || !num_elements)
		return DOCA_ERROR_INVALID_VALUE;
	if (!pier_buf_refs(pier__doca_buf(buf)))
		return pier__doca_fail(DOCA_ERROR_NOT_PERMITTED,
				       "buf: not the first of its list");
	*num_elements = (uint32_t)pier_buf_chain_len(pier__doca_buf(buf));
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_chain_list(struct doca_buf *list1, struct doca_buf *list2)
{
	if (!list1 || !list2)
		return DOCA_ERROR_INVALID_VALUE;
	return pier__doca_error(pier_buf_chain(pier__doca_buf(list1),
					       pier__doca_buf(list2)));
}

/* The last buffer is a help that is not needed. */
doca_error_t doca_buf_chain_list_tail(struct doca_buf *list1_head,
				      struct doca_buf *list1_tail,
				      struct doca_buf *list2)
{
	if (!list1_tail)
		return DOCA_ERROR_INVALID_VALUE;
	return doca_buf_chain_list(list1_head, list2);
}

doca_error_t doca_buf_unchain_list(struct doca_buf *list1,
				   struct doca_buf *list2)
{
	if (!list1 || !list2)
		return DOCA_ERROR_INVALID_VALUE;
	return pier__doca_error(pier_buf_unchain(pier__doca_buf(list1),
						 pier__doca_buf(list2)));
}
