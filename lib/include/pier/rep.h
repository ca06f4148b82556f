/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_REP_H
#define PIER_REP_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A representor is a port of an adapter's switch and stands for the function
 * behind that port: a physical (PF), virtual (VF) or sub- (SF) function of this
 * host, or of the host that the adapter is in.  A snapshot (struct
 * pier_repinfo) describes it; struct pier_rep is an open one.
 *
 * The switch is that of a parent device.  A device without one, as soft, has
 * one representor, for itself.  Any thread; threads may share all objects.
 */
struct pier_dev;
struct pier_devinfo;
struct pier_replist;
struct pier_repinfo;
struct pier_rep;

enum pier_rep_kind {
	PIER_REP_PF = 1 << 0,
	PIER_REP_VF = 1 << 1,
	PIER_REP_SF = 1 << 2,
};

#define PIER_REP_ALL (PIER_REP_PF | PIER_REP_VF | PIER_REP_SF)

/*
 * Take a snapshot of the representors of @parent, which are of @kinds, enum
 * pier_rep_kind or-ed.  None is not an error: the device of most adapters has
 * no switch that is enabled.  Destroy it by pier_replist_destroy().
 * Errors: -EINVAL, @kinds; -ENOMEM; -EACCES, -EMFILE and others of opendir(3).
 */
int pier_replist_create(const struct pier_devinfo *parent, unsigned int kinds,
			struct pier_replist **ret);
void pier_replist_destroy(struct pier_replist *list);

/*
 * The number of representors; number @i, which belongs to @list, or NULL.  They
 * are in the order of controllers, PFs, kinds and numbers.
 */
size_t pier_replist_count(const struct pier_replist *list);
const struct pier_repinfo *pier_replist_get(const struct pier_replist *list,
					    size_t i);

/*
 * Find a representor by @name: its netdev, its port on the switch ("pf0vf2"),
 * its id, or the PCI address of its function.  Belongs to @list.
 * Errors: -ENODEV.
 */
int pier_replist_find(const struct pier_replist *list, const char *name,
		      const struct pier_repinfo **ret);

/* What it stands for. */
enum pier_rep_kind pier_repinfo_kind(const struct pier_repinfo *info);

/* The number of its host among those of the adapter; 0: this one. */
uint32_t pier_repinfo_controller(const struct pier_repinfo *info);

/* The number of its PF, and of the VF or SF in that; 0 of a PF. */
uint32_t pier_repinfo_pf(const struct pier_repinfo *info);
uint32_t pier_repinfo_number(const struct pier_repinfo *info);

/*
 * Strings belong to the snapshot.  The name of the port on the switch, "pf0vf2"
 * or "c1pf0sf88"; the netdev, "" if there is none; an id that no other
 * representor has and that survives a restart; the parent, as
 * pier_devlist_find() finds it.
 */
const char *pier_repinfo_port(const struct pier_repinfo *info);
const char *pier_repinfo_netdev(const struct pier_repinfo *info);
const char *pier_repinfo_vuid(const struct pier_repinfo *info);
const char *pier_repinfo_parent(const struct pier_repinfo *info);

/*
 * The PCI address of the function; "": of another host, or an SF, which has
 * none of its own.  Belongs to the snapshot.
 */
const char *pier_repinfo_pci(const struct pier_repinfo *info);

/*
 * Whether @pci, "0000:03:00.2" or "03:00.2", is the function's PCI address:
 * non-zero if so.
 */
int pier_repinfo_is_pci(const struct pier_repinfo *info, const char *pci);

/*
 * Open @info, whose list may be destroyed afterwards.  The caller closes it by
 * pier_rep_close().
 * Errors: -ENODEV, it was removed or renamed after the snapshot; -ENOMEM; those
 * of pier_devlist_create().
 */
int pier_rep_open(const struct pier_repinfo *info, struct pier_rep **ret);

/*
 * The same for the representor of @dev that pier_replist_find() finds by @name.
 * Errors: those of the three calls.
 */
int pier_rep_open_by_name(struct pier_dev *dev, const char *name,
			  struct pier_rep **ret);

/* NULL is allowed. */
void pier_rep_close(struct pier_rep *rep);

/* The description of @rep when it was opened; belongs to @rep. */
const struct pier_repinfo *pier_rep_info(const struct pier_rep *rep);

#ifdef __cplusplus
}
#endif

#endif
