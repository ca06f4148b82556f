/* SPDX-License-Identifier: BSD-2-Clause */
#include "doca_mmap_impl.h"

doca_error_t doca_mmap_create(struct doca_mmap **mmap)
{
	return pier__doca_mmap_create(NULL, mmap);
}
