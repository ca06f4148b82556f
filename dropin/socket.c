/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the linker takes for socket() in each library: a program may run with
 * librspreload.so, whose socket() would make the library's own sockets ones
 * over RDMA.
 */
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

int pier__dropin_socket(int domain, int type, int protocol);

int pier__dropin_socket(int domain, int type, int protocol)
{
	return (int)syscall(SYS_socket, domain, type, protocol);
}
