/* SPDX-License-Identifier: BSD-2-Clause */
/* Greetings over abstract sockets, and who sent them. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "fabric/soft/shm/attach.h"
#include "fabric/soft/shm/fds.h"
#include "fabric/soft/shm/region.h"

#define MAGIC "pier shm"
#define BACKLOG 64

/* An abstract name begins with a byte of 0. */
static socklen_t name_put(struct sockaddr_un *name, uint16_t port)
{
	int len;

	memset(name, 0, sizeof(*name));
	name->sun_family = AF_UNIX;
	len = snprintf(name->sun_path + 1, sizeof(name->sun_path) - 1,
		       "pier/soft/%u", port);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + len);
}

static int open_sock(uint16_t port, struct sockaddr_un *name, socklen_t *len)
{
	int fd = socket(AF_UNIX,
			SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	*len = name_put(name, port);
	return fd < 0 ? -errno : fd;
}

int pier__soft_attach_listen(uint16_t port)
{
	struct sockaddr_un name;
	socklen_t len;
	int fd = open_sock(port, &name, &len), err;

	if (fd < 0)
		return fd;
	if (bind(fd, (struct sockaddr *)&name, len) || listen(fd, BACKLOG)) {
		err = -errno;
		close(fd);
		return err;
	}
	return fd;
}

int pier__soft_attach_connect(uint16_t port)
{
	struct sockaddr_un name;
	socklen_t len;
	int fd = open_sock(port, &name, &len), err;

	if (fd < 0)
		return fd;
	if (connect(fd, (struct sockaddr *)&name, len)) {
		err = -errno;
		close(fd);
		return err;
	}
	return fd;
}

/* Without a name, which the kernel makes. */
int pier__soft_attach_self(void)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	socklen_t len = sizeof(name);
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int err;

	if (fd < 0)
		return -errno;
	if (bind(fd, (struct sockaddr *)&name, sizeof(name.sun_family)) ||
	    getsockname(fd, (struct sockaddr *)&name, &len) ||
	    connect(fd, (struct sockaddr *)&name, len)) {
		err = -errno;
		close(fd);
		return err;
	}
	/* What others have sent before it was connected. */
	while (recv(fd, &name, sizeof(name), MSG_DONTWAIT) >= 0)
		;
	return fd;
}

/* The first words of a file of /proc; "" if it cannot be read. */
static void read_words(const char *path, char words[64])
{
	FILE *file = fopen(path, "re");
	size_t len = file ? fread(words, 1, 63, file) : 0;

	words[len] = '\0';
	if (file)
		fclose(file);
}

/*
 * A user that our user namespace lacks has the overflow uid here, and so may
 * we: equal uids are one user only where each user has a uid.
 */
static bool is_ambiguous(uid_t uid)
{
	unsigned int overflow, inside, outside, count;
	char words[64];

	read_words("/proc/sys/kernel/overflowuid", words);
	if (sscanf(words, "%u", &overflow) == 1 && uid != overflow)
		return false;
	read_words("/proc/self/uid_map", words);
	return sscanf(words, "%u %u %u", &inside, &outside, &count) != 3 ||
	       inside || count != UINT32_MAX;
}

/*
 * The kernel has the pid, of a time when the process lived.  Another process
 * that has it since does not answer on @sock.
 */
int pier__soft_attach_pidfd(int sock)
{
	struct ucred cred;
	socklen_t len = sizeof(cred);
	long fd;

	if (getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &cred, &len))
		return -errno;
	if (cred.uid != geteuid() || is_ambiguous(cred.uid))
		return -EACCES;
	if (cred.pid <= 0)	/* of no process of our pid namespace */
		return -ESRCH;
	fd = syscall(SYS_pidfd_open, cred.pid, 0);
	return fd < 0 ? -errno : (int)fd;
}

int pier__soft_attach_greet(int sock, struct soft_greeting greeting, int fd)
{
	memcpy(greeting.magic, MAGIC, sizeof(greeting.magic));
	greeting.version = SOFT_ATTACH_VERSION;
	greeting.size = sizeof(struct soft_ring);
	greeting.zero = 0;
	return pier__soft_fds_send(sock, &greeting, sizeof(greeting), fd);
}

static int check(const struct soft_greeting *greeting, ssize_t len,
		 uint16_t from, uint16_t to)
{
	if (!len)
		return -ECONNRESET;	/* it has hung up */
	if (len < (ssize_t)offsetof(struct soft_greeting, size) ||
	    memcmp(greeting->magic, MAGIC, sizeof(greeting->magic)))
		return -EPROTO;
	if (greeting->version != SOFT_ATTACH_VERSION)
		return -EPROTONOSUPPORT;
	if (len != sizeof(*greeting) || greeting->zero ||
	    greeting->size != sizeof(struct soft_ring) ||
	    greeting->to != to || !greeting->from ||
	    (from && greeting->from != from))
		return -EPROTO;
	return 0;
}

int pier__soft_attach_receive(int sock, struct soft_greeting *greeting,
			      const struct soft_ring **ret)
{
	struct soft_greeting got = { 0 };
	int fd, err;
	ssize_t len = pier__soft_fds_receive(sock, &got, sizeof(got), &fd);

	if (len < 0)
		return (int)len;
	err = check(&got, len, greeting->from, greeting->to);
	if (!err)
		err = pier__soft_region_map(fd, ret);
	if (err == -EAGAIN)	/* of locked memory; else: nothing has come */
		err = -ENOMEM;
	if (!err)
		*greeting = got;
	if (fd >= 0)
		close(fd);
	return err;
}
