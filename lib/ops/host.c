/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pier/host.h>

#include "cm/addr.h"
#include "core/copy.h"
#include "core/fail.h"
#include "dev/dev_impl.h"
#include "engine/source.h"
#include "ops/rdma_impl.h"

/*
 * The devices of this host, each with an RDMA context.  A device is listened to
 * at each of its addresses: two contexts cannot both have a port on all.
 */
#define ADDRESSES 32		/* of a device, as in struct pier__port */
#define PORTS_TRIED 16		/* before a port is free on all devices */

struct host_address {
	uint8_t gid[16];
	struct pier_listener *listener;	/* NULL: unused */
};

struct member {
	char name[80];		/* with a port */
	struct pier_dev *dev;		/* owned; NULL: takes no part */
	struct pier_rdma *rdma;		/* the same */
	struct host_address address[ADDRESSES];
	int error;			/* 0: none */
	char text[PIER__ERROR_TEXT];	/* its message */
};

struct pier_host {
	struct pier_pe *pe;
	struct pier_host_config cfg;
	struct pier__deferred deferred;
	uint16_t port;			/* 0: does not listen */
	size_t count;
	struct member member[];
};

/* The last error is that of @member, unless it has an earlier one. */
static void failed(struct member *member, int err)
{
	if (member->error)
		return;
	member->error = err;
	snprintf(member->text, sizeof(member->text), "%s", pier_last_error());
}

static void close_member(struct member *member)
{
	pier_rdma_destroy(member->rdma);
	member->rdma = NULL;
	pier_dev_close(member->dev);
	member->dev = NULL;
}

static int start(struct pier_host *host, struct member *member)
{
	struct pier_rdma_config defaults = { .size = sizeof(defaults) };
	const struct pier_rdma_config *cfg = host->cfg.rdma;
	struct pier_ctx *ctx;
	int err = pier_dev_open(member->name, &member->dev);

	if (!err)
		err = pier_rdma_create(member->dev, &member->rdma);
	if (!err)
		err = pier_rdma_configure(member->rdma, cfg ? cfg : &defaults);
	if (err)
		return err;
	ctx = pier_rdma_ctx(member->rdma);
	pier_ctx_set_user_data(ctx, host->cfg.user_data);
	pier_rdma_set_conn_callbacks(member->rdma, host->cfg.request,
				     host->cfg.established, host->cfg.failure,
				     host->cfg.disconnected);
	return pier_ctx_start(ctx, host->pe);
}

/*
 * Of the devices that share the host's UDP port 4791, only the first takes it:
 * the others would log that it is taken.
 */
static void share_roce_port(struct member *member, bool *taken)
{
	if (!member->dev->info.port.limits.shares_roce_port)
		return;
	member->rdma->owner.no_roce_port = *taken;
	*taken = true;
}

/* Errors: the configuration is invalid; no device can be used. */
static int start_all(struct pier_host *host)
{
	bool taken = false, started = false;
	int err;

	for (size_t i = 0; i < host->count; i++) {
		struct member *member = &host->member[i];

		err = start(host, member);
		if (err) {
			failed(member, err);
			close_member(member);
		}
		if (err == -ENOMEM)
			return pier__fail_again(err, member->text);
		if (err)
			continue;
		share_roce_port(member, &taken);
		started = true;
	}
	if (started)
		return 0;
	if (host->count && host->member[0].error == -EINVAL)
		return pier__fail_again(-EINVAL, host->member[0].text);
	return host->count ? pier__fail(-ENODEV, "host: no device can be used: "
					"%s", host->member[0].text) :
			     pier__fail(-ENODEV, "host: there is no device");
}

static void destroy(struct pier__deferred *deferred)
{
	struct pier_host *host = pier__container_of(deferred, struct pier_host,
						    deferred);

	for (size_t i = 0; i < host->count; i++)
		close_member(&host->member[i]);
	free(host);
}

void pier_host_destroy(struct pier_host *host)
{
	if (!host)
		return;
	host->deferred.fn = destroy;
	pier__pe_defer(host->pe, &host->deferred);
}

/* As pier_dev_open() finds it: a name without a port is the first port's. */
static void take_name(struct member *member, const struct pier_devinfo *info)
{
	const char *name = pier_devinfo_name(info);
	unsigned int port = pier_devinfo_port(info);

	if (port > 1)
		snprintf(member->name, sizeof(member->name), "%s:%u", name,
			 port);
	else
		snprintf(member->name, sizeof(member->name), "%s", name);
}

/* Of the devices of @list, or of @only. */
static int create(struct pier_pe *pe, const struct pier_devlist *list,
		  const struct pier_devinfo *only, struct pier_host **ret)
{
	size_t count = only ? 1 : pier_devlist_count(list), i;
	struct pier_host *host = calloc(1, sizeof(*host) +
					count * sizeof(host->member[0]));

	if (!host)
		return pier__fail(-ENOMEM, "host: no memory");
	host->pe = pe;
	host->count = count;
	for (i = 0; i < count; i++)
		take_name(&host->member[i],
			  only ? only : pier_devlist_get(list, i));
	*ret = host;
	return 0;
}

/* @device may be NULL, which is all of them. */
static int list_and_create(struct pier_pe *pe, const char *device,
			   struct pier_host **ret)
{
	const struct pier_devinfo *only = NULL;
	struct pier_devlist *list;
	int err = pier_devlist_create(&list);

	if (err)
		return err;
	if (device)
		err = pier_devlist_find(list, device, &only);
	if (!err)
		err = create(pe, list, only, ret);
	pier_devlist_destroy(list);
	return err;
}

int pier_host_create(struct pier_pe *pe, const struct pier_host_config *cfg,
		     struct pier_host **ret)
{
	struct pier_host_config c = { 0 };
	struct pier_host *host = NULL;
	int err = 0;

	if (!pe)
		return pier__no_object(__func__);
	if (cfg)
		err = pier__config_copy(&c, sizeof(c), cfg, cfg->size);
	if (!err)
		err = list_and_create(pe, c.device, &host);
	if (err)
		return err;
	host->cfg = c;
	err = start_all(host);
	host->cfg.rdma = NULL;		/* not needed after the call */
	host->cfg.device = NULL;	/* the same */
	if (err) {
		destroy(&host->deferred);
		return err;
	}
	*ret = host;
	return 0;
}

size_t pier_host_count(const struct pier_host *host)
{
	if (!host)
		return 0;
	return host->count;
}

const char *pier_host_name(const struct pier_host *host, size_t i)
{
	if (!host)
		return NULL;
	return i < host->count ? host->member[i].name : NULL;
}

struct pier_dev *pier_host_dev(const struct pier_host *host, size_t i)
{
	if (!host)
		return NULL;
	return i < host->count ? host->member[i].dev : NULL;
}

struct pier_rdma *pier_host_rdma(const struct pier_host *host, size_t i)
{
	if (!host)
		return NULL;
	return i < host->count ? host->member[i].rdma : NULL;
}

int pier_host_error(const struct pier_host *host, size_t i)
{
	if (!host)
		return pier__no_object(__func__);
	if (i >= host->count)
		return pier__fail(-ERANGE, "host: device %zu of %zu", i,
				  host->count);
	return host->member[i].error;
}

const char *pier_host_error_text(const struct pier_host *host, size_t i)
{
	if (!host)
		return "";
	return i < host->count ? host->member[i].text : "";
}

uint16_t pier_host_port(const struct pier_host *host)
{
	if (!host)
		return 0;
	return host->port;
}

size_t pier_host_find(const struct pier_host *host,
		      const struct pier_conn *conn)
{
	const struct pier_rdma *rdma = pier_conn_rdma(conn);
	size_t i;

	for (i = 0; i < pier_host_count(host); i++)
		if (rdma && host->member[i].rdma == rdma)
			break;
	return i;
}

static void stop_listening(struct host_address *address)
{
	pier_listener_destroy(address->listener);
	address->listener = NULL;
}

static bool has(const struct pier__port *port, const uint8_t gid[16])
{
	for (uint32_t i = 0; i < port->gid_count; i++)
		if (!memcmp(port->gids[i].raw, gid, 16))
			return true;
	return false;
}

/* The listener of @gid, or where to put one.  NULL: there is no place. */
static struct host_address *place(struct member *member, const uint8_t gid[16])
{
	struct host_address *empty = NULL;

	for (int i = 0; i < ADDRESSES; i++) {
		struct host_address *address = &member->address[i];

		if (!address->listener)
			empty = empty ? empty : address;
		else if (!memcmp(address->gid, gid, 16))
			return address;
	}
	return empty;
}

/* Listen at @gid, of all if that is NULL; cfg->port becomes the port in use. */
static int listen_at(struct member *member, const uint8_t gid[16],
		     struct pier_listen_config *cfg)
{
	static const uint8_t all[16];
	struct host_address *address = place(member, gid ? gid : all);
	char text[INET6_ADDRSTRLEN];
	int err;

	if (!address || address->listener)
		return 0;
	cfg->address = gid ? pier__gid_text(gid, text) : NULL;
	err = pier_rdma_listen(member->rdma, cfg, &address->listener);
	if (err)
		return err;
	memcpy(address->gid, gid ? gid : all, 16);
	cfg->port = pier_listener_port(address->listener);
	return 0;
}

/* Drop listeners of addresses that were removed, or whose context stopped. */
static void sweep(struct member *member, const struct pier__port *port)
{
	for (int i = 0; i < ADDRESSES; i++) {
		struct host_address *address = &member->address[i];

		if (address->listener &&
		    (!pier_listener_port(address->listener) ||
		     (port->link_layer != IBV_LINK_LAYER_INFINIBAND &&
		      !has(port, address->gid))))
			stop_listening(address);
	}
}

static bool is_listening(const struct member *member)
{
	for (int i = 0; i < ADDRESSES; i++)
		if (member->address[i].listener)
			return true;
	return false;
}

/* At each of its addresses; an InfiniBand device has those of its IPoIB. */
static void listen_on(struct member *member, struct pier_listen_config *cfg)
{
	struct pier__port port;
	int err = 0;

	member->error = 0;
	member->text[0] = '\0';
	pier__dev_now(member->dev, &port);
	sweep(member, &port);
	if (port.link_layer == IBV_LINK_LAYER_INFINIBAND)
		err = listen_at(member, NULL, cfg);
	for (uint32_t i = 0; i < port.gid_count; i++) {
		if (err)
			failed(member, err);
		if (port.gids[i].type == PIER_GID_ROCE_V2)
			err = listen_at(member, port.gids[i].raw, cfg);
	}
	if (!err && !member->error && !is_listening(member))
		err = pier__fail(-EADDRNOTAVAIL, "%s has no address to listen "
				 "on", member->name);
	if (err)
		failed(member, err);
}

/* Returns whether a port that was chosen freely is in use on a device. */
static bool listen_on_all(struct pier_host *host,
			  struct pier_listen_config *cfg)
{
	bool taken = false;

	for (size_t i = 0; i < host->count; i++) {
		struct member *member = &host->member[i];

		if (!member->rdma)
			continue;
		listen_on(member, cfg);
		if (member->error == -EADDRINUSE)
			taken = true;
		if (is_listening(member))
			host->port = (uint16_t)cfg->port;
	}
	return taken;
}

static void stop_listening_all(struct pier_host *host)
{
	for (size_t i = 0; i < host->count; i++)
		for (int k = 0; k < ADDRESSES; k++)
			stop_listening(&host->member[i].address[k]);
	host->port = 0;
}

/* No device listens: the error of the first that could have. */
static int none_listens(const struct pier_host *host)
{
	for (size_t i = 0; i < host->count; i++)
		if (host->member[i].rdma)
			return pier__fail_again(host->member[i].error,
						host->member[i].text);
	return 0;		/* there is one, see start_all() */
}

static int check(const struct pier_host *host,
		 const struct pier_listen_config *cfg)
{
	if (!host->cfg.request)
		return pier__fail(-EINVAL, "host: listen without a request "
				  "callback in its configuration");
	if (cfg->address && cfg->address[0])
		return pier__fail(-EINVAL, "host: listen on \"%s\": a host "
				  "listens on all addresses; use "
				  "pier_rdma_listen() for one", cfg->address);
	if (host->port && cfg->port && cfg->port != host->port)
		return pier__fail(-EINVAL, "host: listen on port %u: it has "
				  "port %u", cfg->port, host->port);
	return 0;
}

int pier_host_listen(struct pier_host *host,
		     const struct pier_listen_config *cfg)
{
	struct pier_listen_config c = { 0 }, chosen;
	bool is_new;
	int err;

	if (!host)
		return pier__no_object(__func__);
	err = pier__config_copy(&c, sizeof(c), cfg, cfg->size);
	if (!err)
		err = check(host, &c);
	if (err)
		return err;
	is_new = !host->port;
	for (int i = 0; i < PORTS_TRIED; i++) {
		chosen = c;
		chosen.size = sizeof(chosen);
		if (!is_new)
			chosen.port = host->port;
		if (!listen_on_all(host, &chosen) || c.port || !is_new)
			break;
		if (i < PORTS_TRIED - 1)
			stop_listening_all(host);
	}
	return host->port ? 0 : none_listens(host);
}

void pier_host_stop_listening(struct pier_host *host)
{
	if (host)
		stop_listening_all(host);
}
