/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_LIB_PCAP_H
#define PIER_T_LIB_PCAP_H

#include <stdbool.h>

#include "t/lib/vnet.h"

/*
 * The RoCE packets of a capture: classic pcap, Ethernet or bare IP.
 * Opening says in TAP why it failed.
 */
struct pcap {
	unsigned char *data;
	size_t len, at;
	bool raw;			/* bare IP */
	unsigned int frame;		/* of the packet read last, from 1 */
	const unsigned char *ip;	/* its IP header */
	size_t ip_len;			/* of all of it */
};

/* One in t/data/roce; one anywhere. */
bool pcap_open(const char *name, struct pcap *ret);
bool pcap_open_path(const char *path, struct pcap *ret);
void pcap_close(struct pcap *pcap);

/* Returns false at the end. */
bool pcap_next(struct pcap *pcap, struct vnet_packet *ret);

/* The path of a file in t/data/roce; in a static buffer. */
const char *pcap_path(const char *name, const char *suffix);

#endif
