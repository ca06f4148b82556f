/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_DEV_REP_IMPL_H
#define PIER_DEV_REP_IMPL_H

#include <stdbool.h>

#include <pier/rep.h>

#include "fabric/fabric.h"
#include "fabric/pci.h"

struct pier_repinfo {
	enum pier_rep_kind kind;
	uint32_t controller, pf, number;
	char parent[80];	/* "mlx5_0:1" */
	char netdev[16];
	char pci[PIER__PCI_SIZE];
	char switch_id[65];	/* hexadecimal; "": the device itself, which */
				/* has no switch */
	char port[16];
	char vuid[96];
};

struct pier_rep {
	struct pier_repinfo info;
};

/*
 * The calls of pier/rep.h with a parameter @root, which is put before every
 * path: "" but in tests.
 */
int pier__replist_create(const char *root, const struct pier__port *parent,
			 unsigned int kinds, struct pier_replist **ret);
int pier__rep_open(const char *root, const struct pier_repinfo *info,
		   struct pier_rep **ret);

/*
 * Fill in kind, controller and numbers from rep->port, the kernel's name of a
 * port.  Returns false: no function is behind it, but a cable, or the name is
 * of another form.
 */
bool pier__rep_parse(struct pier_repinfo *rep);

/*
 * What sysfs has about rep->netdev: the switch and the name of the port.  "":
 * it is no port of a switch.
 */
void pier__rep_read(const char *root, struct pier_repinfo *rep);

#endif
