/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_FABRIC_SOFT_SHM_FDS_H
#define PIER_FABRIC_SOFT_SHM_FDS_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Messages with a descriptor, by a local socket.  Neither call blocks.
 *
 * Send @len bytes of @data with @fd, which stays the caller's.
 * Errors: those of sendmsg(2).
 */
int pier__soft_fds_send(int sock, const void *data, size_t len, int fd);

/*
 * Receive a message of at most @len bytes, and its descriptor, which the caller
 * closes, or -1.  Returns how many bytes it has, 0: the socket has ended.
 * Errors: those of recvmsg(2).
 */
ssize_t pier__soft_fds_receive(int sock, void *data, size_t len, int *fd);

#endif
