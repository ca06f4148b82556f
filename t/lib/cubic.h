/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_LIB_CUBIC_H
#define PIER_T_LIB_CUBIC_H

#include "t/lib/vlink.h"

/*
 * A stream that behaves as one of TCP with cubic (RFC 9438), in virtual time:
 * segments of 1448 bytes, an ACK each, selective acknowledgements, a slow start
 * that ends when the round trip grows (HyStart), timeouts of 200 ms at least.
 * It is a model: no kernel's code.
 */
struct cubic;

/* From @src to @dst, whose links are set; begins at once. */
struct cubic *cubic_open(struct vnet *net, struct soft_io *src,
			 struct soft_io *dst);
void cubic_close(struct cubic *cubic);

/* What has arrived, bytes; how many of the segments sent were again. */
uint64_t cubic_bytes(const struct cubic *cubic);
double cubic_resent(const struct cubic *cubic);

#endif
