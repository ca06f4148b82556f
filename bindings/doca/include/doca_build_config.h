/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DOCA_BUILD_CONFIG_H
#define DOCA_BUILD_CONFIG_H

/*
 * Which side a program is built for.  pier runs on both, so that it is the
 * program's choice, -DDOCA_ARCH_DPU; without one it is the host.
 */
#if !defined(DOCA_ARCH_DPU) && !defined(DOCA_ARCH_HOST)
#define DOCA_ARCH_HOST
#endif

#endif
