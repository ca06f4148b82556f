/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_DROPIN_PRIVATE_H
#define PIER_DROPIN_PRIVATE_H

/*
 * Names that the libraries of vendors are bound to.  rdma-core gives all of
 * them another version when one of them changes, that of its release: 34, 57,
 * 59 and 64 so far.  @call, a function or a variable of this file, has @name in
 * each of these since one.
 */
#define PRIVATE_AS(call, name, version) \
	".symver " #call ", " #name version "\n"

#define PRIVATE_SINCE_64(call, name) \
	__asm__(PRIVATE_AS(call, name, "@@IBVERBS_PRIVATE_64"))

#define PRIVATE_SINCE_59(call, name) \
	__asm__(PRIVATE_AS(call, name, "@@IBVERBS_PRIVATE_59") \
		PRIVATE_AS(call, name, "@IBVERBS_PRIVATE_64"))

#define PRIVATE_SINCE_34(call, name) \
	__asm__(PRIVATE_AS(call, name, "@@IBVERBS_PRIVATE_34") \
		PRIVATE_AS(call, name, "@IBVERBS_PRIVATE_57") \
		PRIVATE_AS(call, name, "@IBVERBS_PRIVATE_59") \
		PRIVATE_AS(call, name, "@IBVERBS_PRIVATE_64"))

#endif
