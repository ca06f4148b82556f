/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_FABRIC_SOFT_STATS_PCAP_H
#define PIER_FABRIC_SOFT_STATS_PCAP_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

/*
 * Files in the pcap format, of raw IP packets, with times in nanoseconds.
 */
#define PIER__PCAP_RECORD 16	/* bytes before each packet */

/*
 * Open @path for a new capture, or @path.PID if another process is writing
 * to it.  *ret holds the lock that other processes see; the caller closes it.
 * Errors: -EEXIST, the file exists and is no capture of this user's; those of
 * open(2).
 */
int pier__pcap_open(const char *path, uint64_t *size, int *ret);

/* Write the head of a packet of @len bytes at @p.  Returns where it goes. */
uint8_t *pier__pcap_record(uint8_t *p, const struct timespec *at, size_t len);

/*
 * Append @len bytes to @fd, a file of *@size bytes.  If it cannot be done,
 * the file ends before them.  Errors: those of write(2).
 */
int pier__pcap_append(int fd, uint64_t *size, const void *data, size_t len);

#endif
