/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/bits.h"
#include "mem/access.h"

const char *pier__access_text(uint32_t access, char ret[PIER__ACCESS_TEXT])
{
	static const char *const names[] = {
		"PIER_LOCAL_READ",
		"PIER_LOCAL_WRITE",
		"PIER_REMOTE_READ",
		"PIER_REMOTE_WRITE",
		"PIER_REMOTE_ATOMIC",
		"PIER_PEER_READ",
		"PIER_PEER_WRITE",
	};

	if (!access)
		return "no access";
	return pier__bits_text(access, names, sizeof(names) / sizeof(names[0]),
			       ret, PIER__ACCESS_TEXT);
}
