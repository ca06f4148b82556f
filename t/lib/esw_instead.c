/* SPDX-License-Identifier: BSD-2-Clause */
#include "dev/rep_impl.h"
#include "t/lib/esw.h"

/* For a program that is linked with --wrap of the two calls. */
bool esw_instead;

int __real_pier_replist_create(const struct pier_devinfo *parent,
			       unsigned int kinds, struct pier_replist **ret);
int __wrap_pier_replist_create(const struct pier_devinfo *parent,
			       unsigned int kinds, struct pier_replist **ret);
int __real_pier_rep_open(const struct pier_repinfo *info,
			 struct pier_rep **ret);
int __wrap_pier_rep_open(const struct pier_repinfo *info,
			 struct pier_rep **ret);

int __wrap_pier_replist_create(const struct pier_devinfo *parent,
			       unsigned int kinds, struct pier_replist **ret)
{
	return esw_instead ? pier__replist_create(esw_root, &esw_adapter,
						  kinds, ret) :
			     __real_pier_replist_create(parent, kinds, ret);
}

int __wrap_pier_rep_open(const struct pier_repinfo *info, struct pier_rep **ret)
{
	return esw_instead ? pier__rep_open(esw_root, info, ret) :
			     __real_pier_rep_open(info, ret);
}
