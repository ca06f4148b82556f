/* SPDX-License-Identifier: BSD-2-Clause */
/* Sockets over RDMA, which are not there: their calls fail. */
#include <errno.h>

#include "dropin/cma/cma.h"

long pier__cma_no_rsocket(void);

/* Of all calls, also those that return a ssize_t or an off_t: -1. */
long pier__cma_no_rsocket(void)
{
	return pier__cma_result(-EOPNOTSUPP);
}

__asm__(".symver pier__cma_no_rsocket, raccept@@RDMACM_1.0");
__asm__(".symver pier__cma_no_rsocket, rbind@@RDMACM_1.0");
__asm__(".symver pier__cma_no_rsocket, rclose@@RDMACM_1.0");
__asm__(".symver pier__cma_no_rsocket, rconnect@@RDMACM_1.0");
__asm__(".symver pier__cma_no_rsocket, rfcntl@@RDMACM_1.0");
__asm__(".symver pier__cma_no_rsocket, rgetpeername@@RDMACM_1.0");
__asm__(".symver pier__cma_no_rsocket, rgetsockname@@RDMACM_1.0");
__asm__(".symver pier__cma_no_rsocket, rgetsockopt@@RDMACM_1.0");
__asm__(".symver pier__cma_no_rsocket, riomap@@RDMACM_1.0");
__asm__(".symver pier__cma_no_rsocket, riounmap@@RDMACM_1.0");
__asm__(".symver pier__cma_no_rsocket, riowrite@@RDMACM_1.0");
__asm__(".symver pier__cma_no_rsocket, rlisten@@RDMACM_1.0");
__asm__(".symver pier__cma_no_rsocket, rpoll@@RDMACM_1.0");
__asm__(".symver pier__cma_no_rsocket, rread@@RDMACM_1.0");
__asm__(".symver pier__cma_no_rsocket, rreadv@@RDMACM_1.0");
__asm__(".symver pier__cma_no_rsocket, rrecv@@RDMACM_1.0");
__asm__(".symver pier__cma_no_rsocket, rrecvfrom@@RDMACM_1.0");
__asm__(".symver pier__cma_no_rsocket, rrecvmsg@@RDMACM_1.0");
__asm__(".symver pier__cma_no_rsocket, rselect@@RDMACM_1.0");
__asm__(".symver pier__cma_no_rsocket, rsend@@RDMACM_1.0");
__asm__(".symver pier__cma_no_rsocket, rsendmsg@@RDMACM_1.0");
__asm__(".symver pier__cma_no_rsocket, rsendto@@RDMACM_1.0");
__asm__(".symver pier__cma_no_rsocket, rsetsockopt@@RDMACM_1.0");
__asm__(".symver pier__cma_no_rsocket, rshutdown@@RDMACM_1.0");
__asm__(".symver pier__cma_no_rsocket, rsocket@@RDMACM_1.0");
__asm__(".symver pier__cma_no_rsocket, rwrite@@RDMACM_1.0");
__asm__(".symver pier__cma_no_rsocket, rwritev@@RDMACM_1.0");
