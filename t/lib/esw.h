/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_LIB_ESW_H
#define PIER_T_LIB_ESW_H

#include <stdbool.h>

/*
 * An adapter in switchdev mode, of which there is nothing but a tree like
 * sysfs.  Its uplink p0 is eth0; PF 0 has two VFs and an SF here, and another
 * host has a PF with one VF.
 */
#define ESW_ID "e41d2d0300fd8b3a"
#define ESW_PCI "sys/devices/pci0000:00/0000:03:00."

struct pier__port;
struct pier_repinfo;
struct pier_replist;

extern char esw_root[];
extern const struct pier__port esw_adapter;

/* The library lists and opens those of the adapter; esw_instead.c. */
extern bool esw_instead;

/* Make the tree; remove it.  False: there is no directory for it. */
bool esw_make(void);
void esw_remove(void);

/* Make it anew, after a test has changed it. */
void esw_remake(void);

/* Make the network interface @netdev the port @name of the switch @id. */
void esw_port(const char *netdev, const char *id, const char *name);

/* Representors of @parent, from the tree; NULL is a failed check. */
struct pier_replist *esw_list_of(const struct pier__port *parent,
				 unsigned int kinds);

/* Those of the adapter. */
struct pier_replist *esw_list(unsigned int kinds);

/* Check that its ports are those in @want, each with a space behind it. */
void esw_lists(unsigned int kinds, const char *want);

/* As pier_replist_find(); NULL is a failed check. */
const struct pier_repinfo *esw_find(const struct pier_replist *list,
				    const char *name);

/* Check the PCI address behind @netdev. */
void esw_pci_is(const char *netdev, const char *pci);

#endif
