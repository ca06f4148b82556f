/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include <pier/dev.h>

#include "t/lib/port_instead.h"

/* The linker has these called instead. */
bool port_is_infiniband, port_cannot_import;

int __real_pier_devinfo_gid(const struct pier_devinfo *info, size_t i,
			    struct pier_gid *ret);
int __wrap_pier_devinfo_gid(const struct pier_devinfo *info, size_t i,
			    struct pier_gid *ret);
unsigned int __wrap_pier_devinfo_mtu(const struct pier_devinfo *info);
enum pier_link __wrap_pier_devinfo_link(const struct pier_devinfo *info);
int __real_pier_devinfo_can_import(const struct pier_devinfo *info,
				   enum pier_export kind);
int __wrap_pier_devinfo_can_import(const struct pier_devinfo *info,
				   enum pier_export kind);

/* Three entries, at the indexes 1, 3 and 7; IPv4 is at 3. */
int __wrap_pier_devinfo_gid(const struct pier_devinfo *info, size_t i,
			    struct pier_gid *ret)
{
	static const uint32_t indexes[] = { 1, 3, 7 };
	static const uint8_t ipv4[16] = { [10] = 0xff, [11] = 0xff, 10, 0, 0,
					  1 };
	int err;

	if (i >= sizeof(indexes) / sizeof(indexes[0]))
		return -ERANGE;
	err = __real_pier_devinfo_gid(info, 0, ret);
	if (err)
		return err;
	ret->index = indexes[i];
	ret->type = i ? PIER_GID_ROCE_V2 : PIER_GID_ROCE_V1;
	memcpy(ret->raw, ipv4, sizeof(ret->raw));
	if (i == 2)
		ret->raw[0] = 0xfd;
	return 0;
}

unsigned int __wrap_pier_devinfo_mtu(const struct pier_devinfo *info)
{
	(void)info;
	return 1024;
}

enum pier_link __wrap_pier_devinfo_link(const struct pier_devinfo *info)
{
	(void)info;
	return port_is_infiniband ? PIER_LINK_INFINIBAND : PIER_LINK_ETHERNET;
}

int __wrap_pier_devinfo_can_import(const struct pier_devinfo *info,
				   enum pier_export kind)
{
	return port_cannot_import ? -EOPNOTSUPP :
			       __real_pier_devinfo_can_import(info, kind);
}
