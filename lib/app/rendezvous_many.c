/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <pier/rendezvous.h>

#include "app/rendezvous_impl.h"
#include "core/fail.h"

/* "PATH-0003": the descriptor of connection @index of several. */
static int numbered(const char *path, unsigned int index, char **ret)
{
	if (!path)
		return 0;	/* the call for one connection fails then */
	if (asprintf(ret, "%s-%04u", path, index) < 0)
		return pier__fail(-ENOMEM, "rendezvous: no memory");
	return 0;
}

static int by_files(struct pier_rdma *rdma, const struct pier_args *args,
		    unsigned int index, struct pier_conn **ret)
{
	struct pier_args one = *args;
	char *local = NULL, *remote = NULL;
	int err = numbered(args->local_descriptor, index, &local);

	if (!err)
		err = numbered(args->remote_descriptor, index, &remote);
	one.local_descriptor = local;
	one.remote_descriptor = remote;
	if (!err)
		err = pier_rendezvous(rdma, &one, NULL, ret, NULL);
	free(remote);
	free(local);
	return err;
}

static int check(const struct pier_args *args, unsigned int count)
{
	if (!count || count > 10000)
		return pier__fail(-EINVAL, "rendezvous: %u connections: 1 to "
				  "10000", count);
	if (args->server_addr && count > 1)
		return pier__fail(-EINVAL, "rendezvous: %u connections: a "
				  "client by CM makes one; run %u clients, or "
				  "be the server: without -sa", count, count);
	return 0;
}

void pier__rendezvous_undo(struct pier_conn **conns, unsigned int made)
{
	while (made-- > 0) {
		pier_conn_destroy(conns[made]);
		conns[made] = NULL;
	}
}

static int all_by_files(struct pier_rdma *rdma, const struct pier_args *args,
			unsigned int count, struct pier_conn **ret)
{
	unsigned int made;
	int err;

	for (made = 0; made < count; made++) {
		err = by_files(rdma, args, made, &ret[made]);
		if (err)
			goto fail;
	}
	return 0;

fail:
	pier__rendezvous_undo(ret, made);
	return err;
}

int pier_rendezvous_many(struct pier_rdma *rdma, const struct pier_args *args,
			 unsigned int count, struct pier_conn **ret)
{
	int err;

	if (!rdma)
		return pier__no_object(__func__);
	err = check(args, count);
	if (!err)
		err = pier__rendezvous_runs(rdma);
	if (err)
		return err;
	if (args->server_addr)
		return pier_rendezvous(rdma, args, NULL, ret, NULL);
	if (args->use_cm)
		return pier__rendezvous_cm_many(rdma, args, count, ret);
	return all_by_files(rdma, args, count, ret);
}
