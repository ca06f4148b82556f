/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_LIB_CAPTURE_H
#define PIER_T_LIB_CAPTURE_H

#include <pcap/pcap.h>
#include <stdbool.h>

#include "t/lib/vnet.h"

/*
 * The RoCE packets of a capture: Ethernet or bare IP, read by libpcap.
 * Opening reports in TAP why it failed.
 */
struct capture {
	pcap_t *file;
	bool raw;			/* bare IP */
	bool whole;			/* the file ended with a whole packet */
	unsigned int frame;		/* number of the last packet, from 1 */
	const unsigned char *ip;	/* its IP header */
	size_t ip_len;			/* of all of it */
};

/* One in t/data/roce; one anywhere. */
bool capture_open(const char *name, struct capture *ret);
bool capture_open_path(const char *path, struct capture *ret);
void capture_close(struct capture *capture);

/* Returns false at the end. */
bool capture_next(struct capture *capture, struct vnet_packet *ret);

/* The path of a file in t/data/roce; in a static buffer. */
const char *capture_path(const char *name, const char *suffix);

#endif
