/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether memory that is registered is mapped in this process. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fail.h"
#include "fabric/soft/rc/mr.h"

/*
 * May this process access the memory that it registers?  The driver of an
 * adapter checks it when it pins the pages; without a check a peer's packet
 * would raise a signal here.  The kernel's list of mappings is read instead of
 * the pages, which another thread may be writing, or which are not there yet.
 */
struct area {
	uintptr_t begin, end;
	bool reads, writes;
};

/* The next line of @maps; only its beginning is read. */
static bool area_next(FILE *maps, struct area *ret)
{
	char line[128], *at;

	if (!fgets(line, sizeof(line), maps))
		return false;
	ret->begin = strtoull(line, &at, 16);
	ret->end = *at == '-' ? strtoull(at + 1, &at, 16) : 0;
	ret->reads = at[0] == ' ' && at[1] == 'r';
	ret->writes = at[0] == ' ' && at[1] && at[2] == 'w';
	while (!strchr(line, '\n') && fgets(line, sizeof(line), maps))
		;
	return true;
}

/* The error of @area for @writes; NULL: none. */
static const char *flaw(const struct area *area, bool writes)
{
	if (!area->reads)
		return "may not be read";
	return writes && !area->writes ? "may not be written" : NULL;
}

/*
 * The first error from @at to @end, which is at *@ret.  NULL: there is none, or
 * the kernel's list cannot be read.
 */
static const char *look(FILE *maps, uintptr_t at, uintptr_t end, bool writes,
			uintptr_t *ret)
{
	const char *wrong = NULL;
	struct area area;

	while (at < end && !wrong) {
		if (!area_next(maps, &area)) {
			wrong = ferror(maps) ? NULL : "is not mapped";
			break;
		}
		if (area.end <= at)
			continue;
		if (area.begin > at)
			wrong = "is not mapped";
		else
			wrong = flaw(&area, writes);
		if (!wrong)
			at = area.end;
	}
	*ret = at;
	return wrong;
}

int pier__soft_mapped(const void *addr, size_t len, bool writes)
{
	uintptr_t begin = (uintptr_t)addr, at = begin;
	FILE *maps = fopen("/proc/self/maps", "re");
	const char *wrong;

	if (!maps)
		return 0;
	wrong = look(maps, begin, begin + len, writes, &at);
	fclose(maps);
	if (!wrong)
		return 0;
	return pier__fail(-EFAULT, "cannot register %zu bytes at %p%s: what "
			  "is at %p %s", len, addr, writes ? " for writing" :
			  "", (void *)at, wrong);
}
