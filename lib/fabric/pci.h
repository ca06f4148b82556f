/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_FABRIC_PCI_H
#define PIER_FABRIC_PCI_H

#include <stdbool.h>

#define PIER__PCI_SIZE 16	/* 0000:00:00.0 */

/*
 * PCI addresses by which devices are named, the same for every kind of
 * device.  @root is put before every path: "" but in tests.
 */

/* The address of the nearest PCI function above the link @path, or "". */
void pier__pci_of_link(const char *path, char ret[PIER__PCI_SIZE]);

/* That of the network interface @name, or a derived one if it has none. */
void pier__pci_of_netdev(const char *root, const char *name,
			 char ret[PIER__PCI_SIZE]);

/*
 * A stable address derived from @name, in domain fffe, which hardware does not
 * use.  Names such as v0 and v1 get different ones.
 */
void pier__pci_make_up(const char *name, char ret[PIER__PCI_SIZE]);

/* Is @name the address @pci?  It may be written without its domain. */
bool pier__pci_is(const char *pci, const char *name);

#endif
