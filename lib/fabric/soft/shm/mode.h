/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_FABRIC_SOFT_SHM_MODE_H
#define PIER_FABRIC_SOFT_SHM_MODE_H

#include <stdint.h>

#include <pier/rdma.h>

/*
 * Which path packets to processes of this host take: @asked, or if that is 0
 * what PIER_SHM is now.  A capture and faults have packets of UDP alone: with
 * PIER_PCAP or PIER_FAULTS it is off.
 * Errors: -EINVAL, PIER_SHM is none of its words.
 */
int pier__soft_shm_mode(uint32_t asked, enum pier_shm *ret);

#endif
