/* SPDX-License-Identifier: BSD-2-Clause */
/* What a port of a switch is, from its name and from sysfs. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "core/file.h"
#include "dev/rep_impl.h"

/* A decimal number as the kernel writes one.  Returns its end, or NULL. */
static const char *number(const char *at, uint32_t *ret)
{
	uint64_t value = 0;
	const char *c = at;

	for (; *c >= '0' && *c <= '9'; c++) {
		value = value * 10 + (uint64_t)(*c - '0');
		if (value > UINT32_MAX)
			return NULL;
	}
	if (c == at || (*at == '0' && c > at + 1))
		return NULL;
	*ret = (uint32_t)value;
	return c;
}

/* If @word and a number are at *at: go behind them. */
static bool skip(const char **at, const char *word, uint32_t *ret)
{
	const char *end;

	if (strncmp(*at, word, strlen(word)))
		return false;
	end = number(*at + strlen(word), ret);
	if (end)
		*at = end;
	return end;
}

/*
 * [cN][pN]pfN[vfN|sfN].  A port that has only pN is that of a cable.
 */
bool pier__rep_parse(struct pier_repinfo *rep)
{
	uint32_t controller = 0, cable, pf, sub = 0;
	enum pier_rep_kind kind = PIER_REP_PF;
	const char *at = rep->port;

	skip(&at, "c", &controller);
	skip(&at, "p", &cable);
	if (!skip(&at, "pf", &pf))
		return false;
	if (skip(&at, "vf", &sub))
		kind = PIER_REP_VF;
	else if (skip(&at, "sf", &sub))
		kind = PIER_REP_SF;
	if (*at)
		return false;

	rep->kind = kind;
	rep->controller = controller;
	rep->pf = pf;
	rep->number = sub;
	return true;
}

static void read_file(const char *root, const char *netdev, const char *name,
		      char *ret, size_t size)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/sys/class/net/%s/%s", root, netdev,
		 name);
	pier__file_line(path, ret, size);
}

/* Most drivers have the files, and fail reads with EOPNOTSUPP. */
void pier__rep_read(const char *root, struct pier_repinfo *rep)
{
	rep->switch_id[0] = '\0';
	rep->port[0] = '\0';
	if (!rep->netdev[0])
		return;
	read_file(root, rep->netdev, "phys_switch_id", rep->switch_id,
		  sizeof(rep->switch_id));
	if (rep->switch_id[strspn(rep->switch_id, "0123456789abcdef")])
		rep->switch_id[0] = '\0';
	if (rep->switch_id[0])
		read_file(root, rep->netdev, "phys_port_name", rep->port,
			  sizeof(rep->port));
}
