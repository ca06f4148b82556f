/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_DEV_DEV_H
#define PIER_DEV_DEV_H

#include <stdatomic.h>

#include <pier/dev.h>

#include "fabric/fabric.h"

struct pier_devinfo {
	struct pier__port port;
};

struct pier_dev {
	struct pier_devinfo info;	/* as opened */
	struct pier__fdev *fdev;	/* owned */
	const struct pier__fabric *fabric;
	uint8_t id[8];		/* random, names this opening of the device: */
				/* keys made on it carry it to importers */
	atomic_uint users;	/* contexts and mmaps on it */
};

/* Count a user of @dev, which must not be closed before it is dropped. */
void pier__dev_hold(struct pier_dev *dev);
void pier__dev_drop(struct pier_dev *dev);

#endif
