/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/fail.h"
#include "ops/comch_wire.h"
#include "ops/digest.h"

#define LOCK_DIGEST 12	/* bytes of it: the address is short */
#define PORT_COUNT (PIER__COMCH_PORT_MAX - PIER__COMCH_PORT_MIN + 1)

int pier__comch_name_set(struct pier__comch_name *name, const char *text)
{
	size_t len = text ? strnlen(text, PIER_COMCH_NAME_MAX + 1) : 0;

	if (!len || len > PIER_COMCH_NAME_MAX)
		return pier__fail(-EINVAL, "comch: a name of %s bytes: 1 to %d "
				  "are allowed", len ? "more" : "0",
				  PIER_COMCH_NAME_MAX);
	memcpy(name->text, text, len + 1);
	return pier__digest_bytes(PIER_SHA_256, text, len, name->digest);
}

uint16_t pier__comch_name_port(const struct pier__comch_name *name,
			       unsigned int i)
{
	const uint8_t *digest = name->digest;
	uint32_t code = (uint32_t)digest[0] << 24 | digest[1] << 16 |
			digest[2] << 8 | digest[3];

	return (uint16_t)(PIER__COMCH_PORT_MIN + (code % PORT_COUNT + i) %
			  PORT_COUNT);
}

/* The abstract address that only one socket of a namespace can have. */
static socklen_t lock_address(const struct pier__comch_name *name,
			      const struct pier__port *port,
			      struct sockaddr_un *ret)
{
	char *at = ret->sun_path + 1;
	int len;

	memset(ret, 0, sizeof(*ret));
	ret->sun_family = AF_UNIX;
	len = snprintf(at, sizeof(ret->sun_path) - 1, "pier-comch.");
	for (int i = 0; i < LOCK_DIGEST; i++)
		len += snprintf(at + len, 3, "%02x", name->digest[i]);
	len += snprintf(at + len, sizeof(ret->sun_path) - 1 - (size_t)len,
			".%s:%u", port->name, port->port);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
			   (size_t)len);
}

int pier__comch_name_lock(const struct pier__comch_name *name,
			  const struct pier__port *port, int *ret)
{
	struct sockaddr_un addr;
	socklen_t len = lock_address(name, port, &addr);
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), err;

	if (fd < 0)
		return pier__fail(-errno, "comch: no socket: %s",
				  pier_strerror(errno));
	if (!bind(fd, (const struct sockaddr *)&addr, len)) {
		*ret = fd;
		return 0;
	}
	err = -errno;
	close(fd);
	if (err == -EADDRINUSE)
		return pier__fail(-EEXIST, "comch: another server on this host "
				  "has the name \"%s\" on %s", name->text,
				  port->name);
	return pier__fail(err, "comch: cannot have the name \"%s\": %s",
			  name->text, pier_strerror(err));
}
