/* SPDX-License-Identifier: BSD-2-Clause */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pier/cm.h>
#include <pier/ctx.h>
#include <pier/pe.h>
#include <pier/rdma.h>

#include "core/clock.h"
#include "core/fail.h"
#include "core/random.h"
#include "core/thread.h"
#include "cm/addr.h"
#include "ops/rdma_impl.h"
#include "ops/service.h"
#include "ops/service_file.h"

#define CONNS_MAX 1024
#define SECOND (1000 * PIER__MS)
#define DRAIN_MS 500	/* how long a client that is away delays the end */

struct pier__service {
	struct pier__list link;		/* in services */
	struct pier_dev *dev;		/* the rdma context's */
	unsigned int entry_count;	/* guarded by services_lock */
	uint16_t port;

	pthread_t thread;
	atomic_bool stop, sweep;
	struct pier_pe *pe;		/* the thread's, once it runs */
	struct pier_rdma *rdma;
	struct pier_listener *listener;
	struct pier__list clients;

	pthread_mutex_t lock;		/* guards entries, what is in them, */
					/* and what follows */
	pthread_cond_t changed;		/* number of their clients */
	struct pier__list entries;
	uint32_t exports, peers;
	int error;			/* of the device; 0: none */
	char error_text[256];
	uint64_t refused;
	struct pier__service_file file;	/* shows these */
};

/* A connection that was accepted. */
struct client {
	struct pier__list link;
	struct pier_conn *conn;
	uint8_t token[PIER__TOKEN];
};

static pthread_mutex_t services_lock = PTHREAD_MUTEX_INITIALIZER;
static struct pier__list services = { &services, &services };

void pier__service_ask(const uint8_t token[PIER__TOKEN],
		       uint8_t ret[PIER__SERVICE_ASK])
{
	size_t magic = sizeof(PIER__SERVICE_MAGIC) - 1;

	memcpy(ret, PIER__SERVICE_MAGIC, magic);
	memcpy(ret + magic, token, PIER__TOKEN);
}

/* The entry of @token; NULL: it is not known.  @lock is held. */
static struct pier__service_entry *find_entry(struct pier__service *service,
					      const uint8_t *token)
{
	struct pier__service_entry *found = NULL;
	struct pier__list *pos, *tmp;

	PIER__LIST_EACH(pos, tmp, &service->entries) {
		struct pier__service_entry *entry = pier__container_of(
			pos, struct pier__service_entry, link);

		if (pier__random_same(entry->token, token, PIER__TOKEN))
			found = entry;
	}
	return found;
}

/* Have other processes see the numbers.  @lock is held. */
static void show(struct pier__service *service)
{
	pier__service_file_set(&service->file, service->exports,
			       service->peers, service->refused);
}

/* There are @more clients of @token than before.  Is it known? */
static bool count_client(struct pier__service *service, const uint8_t *token,
			 int more)
{
	struct pier__service_entry *entry;

	pthread_mutex_lock(&service->lock);
	service->peers += (uint32_t)more;
	if (more)
		show(service);
	entry = find_entry(service, token);
	if (entry && more) {
		entry->clients += (uint32_t)more;
		entry->used = true;
		pthread_cond_broadcast(&service->changed);
	}
	pthread_mutex_unlock(&service->lock);
	return entry;
}

/* The token in what a client has sent; NULL: it is no request of ours. */
static const uint8_t *read_ask(struct pier_conn *conn)
{
	size_t magic = sizeof(PIER__SERVICE_MAGIC) - 1, len;
	const void *data;

	if (pier_conn_private_data(conn, &data, &len) ||
	    len != PIER__SERVICE_ASK ||
	    memcmp(data, PIER__SERVICE_MAGIC, magic))
		return NULL;
	return (const uint8_t *)data + magic;
}

static struct client *client_create(struct pier__service *service,
				    struct pier_conn *conn,
				    const uint8_t *token)
{
	struct client *client = malloc(sizeof(*client));

	if (!client)
		return NULL;
	client->conn = conn;
	memcpy(client->token, token, PIER__TOKEN);
	pier__list_add(&service->clients, &client->link);
	pier_conn_set_user_data(conn, client);
	count_client(service, token, 1);
	return client;
}

static void client_destroy(struct pier__service *service, struct client *client)
{
	count_client(service, client->token, -1);
	pier_conn_destroy(client->conn);
	pier__list_del(&client->link);
	free(client);
}

static void refuse(struct pier__service *service, struct pier_conn *conn)
{
	pthread_mutex_lock(&service->lock);
	service->refused++;
	show(service);
	pthread_mutex_unlock(&service->lock);
	if (pier_conn_reject(conn, NULL, 0))
		pier_conn_destroy(conn);
}

static void requested(struct pier_conn *conn, void *user_data,
		      void *ctx_user_data)
{
	struct pier__service *service = ctx_user_data;
	const uint8_t *token = read_ask(conn);
	struct client *client = NULL;

	(void)user_data;
	if (token && count_client(service, token, 0))
		client = client_create(service, conn, token);
	else
		pier__log(PIER_LOG_INFO, "service", "port %u: %s asks for "
			  "nothing that is exported", service->port,
			  pier_conn_peer_address(conn));
	if (!client) {
		refuse(service, conn);
	} else if (pier_conn_accept(conn, NULL, 0)) {
		client_destroy(service, client);
	}
}

static void ended(struct pier_conn *conn, void *user_data, void *ctx_user_data)
{
	(void)conn;
	if (user_data)
		client_destroy(ctx_user_data, user_data);
}

/* End the connections whose entry was removed. */
static void sweep(struct pier__service *service)
{
	struct pier__list *pos, *tmp;

	PIER__LIST_EACH(pos, tmp, &service->clients) {
		struct client *client =
			pier__container_of(pos, struct client, link);

		if (!count_client(service, client->token, 0))
			client_destroy(service, client);
	}
}

/* Its device was removed, or has failed: no peer can come. */
static void failed(struct pier_ctx *ctx)
{
	struct pier__service *service = pier_ctx_user_data(ctx);
	const struct pier__queues *queues = service->rdma->owner.queues;

	pthread_mutex_lock(&service->lock);
	service->error = queues->error;
	snprintf(service->error_text, sizeof(service->error_text), "%s",
		 queues->error_text);
	pthread_cond_broadcast(&service->changed);
	pthread_mutex_unlock(&service->lock);
}

static void *service_main(void *arg)
{
	struct pier__service *service = arg;

	while (!atomic_load(&service->stop)) {
		if (atomic_exchange(&service->sweep, false))
			sweep(service);
		pier_pe_wait(service->pe, -1);
	}
	return NULL;
}

/* What the thread will drive; it does not run yet. */
static int open_all(struct pier__service *service)
{
	struct pier_rdma_config cfg = {
		.size = sizeof(cfg),
		.max_conns = CONNS_MAX,
		.send_queue = 1,
		.recv_queue = 1,
		.drain_ms = DRAIN_MS,
	};
	struct pier_listen_config listen = { .size = sizeof(listen) };
	int err = pier_pe_create(&service->pe);

	if (!err)
		err = pier_rdma_create(service->dev, &service->rdma);
	if (!err)
		err = pier_rdma_configure(service->rdma, &cfg);
	if (err)
		return err;
	service->rdma->owner.no_roce_port = true;
	service->rdma->owner.failed = failed;
	pier_ctx_set_user_data(pier_rdma_ctx(service->rdma), service);
	pier_rdma_set_conn_callbacks(service->rdma, requested, NULL, ended,
				     ended);
	err = pier_ctx_start(pier_rdma_ctx(service->rdma), service->pe);
	if (!err)
		err = pier_rdma_listen(service->rdma, &listen,
				       &service->listener);
	if (!err)
		service->port = pier_listener_port(service->listener);
	return err;
}

/* Show it to other processes. */
static void open_file(struct pier__service *service)
{
	const struct pier__port *port = &service->dev->info.port;
	struct pier_service shown = { .port = service->port };

	snprintf(shown.device, sizeof(shown.device), "%s", port->name);
	for (unsigned int i = 0; i < port->gid_count &&
	     shown.address_count < PIER_SERVICE_ADDRESSES; i++)
		pier__gid_text(port->gids[i].raw,
			       shown.address[shown.address_count++]);
	pier__service_file_open(&service->file, &shown);
}

static void service_free(struct pier__service *service)
{
	struct pier__list *pos, *tmp;

	pier__service_file_close(&service->file);
	PIER__LIST_EACH(pos, tmp, &service->clients)
		client_destroy(service, pier__container_of(pos, struct client,
							   link));
	pier_listener_destroy(service->listener);
	pier_rdma_destroy(service->rdma);
	pier_pe_destroy(service->pe);
	pthread_cond_destroy(&service->changed);
	pthread_mutex_destroy(&service->lock);
	free(service);
}

static void init_locks(struct pier__service *service)
{
	pthread_condattr_t monotonic;

	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&service->changed, &monotonic);
	pthread_condattr_destroy(&monotonic);
	pthread_mutex_init(&service->lock, NULL);
}

static int service_create(struct pier_dev *dev, struct pier__service **ret)
{
	struct pier__service *service = calloc(1, sizeof(*service));
	int err;

	if (!service)
		return pier__fail(-ENOMEM, "service: no memory");
	service->dev = dev;
	pier__list_init(&service->clients);
	pier__list_init(&service->entries);
	init_locks(service);
	err = open_all(service);
	if (!err)
		open_file(service);
	if (!err)
		err = pier__thread_start(&service->thread, service_main,
					 service, "service");
	if (err) {
		service_free(service);
		return err;
	}
	pier__list_add(&services, &service->link);
	*ret = service;
	return 0;
}

static void service_destroy(struct pier__service *service)
{
	atomic_store(&service->stop, true);
	pier_pe_wake(service->pe);
	pthread_join(service->thread, NULL);
	service_free(service);
}

/* That of @dev; NULL: there is none. */
static struct pier__service *find(const struct pier_dev *dev)
{
	struct pier__list *pos, *tmp;

	PIER__LIST_EACH(pos, tmp, &services) {
		struct pier__service *service =
			pier__container_of(pos, struct pier__service, link);

		if (service->dev == dev)
			return service;
	}
	return NULL;
}

int pier__service_add(struct pier_dev *dev, struct pier__service_entry *entry)
{
	struct pier__service *service;
	int err = 0;

	pthread_mutex_lock(&services_lock);
	service = find(dev);
	if (!service)
		err = service_create(dev, &service);
	if (!err)
		service->entry_count++;
	pthread_mutex_unlock(&services_lock);
	if (err)
		return err;

	pier__random(entry->token, PIER__TOKEN);
	entry->clients = 0;
	entry->used = false;
	entry->service = service;
	pthread_mutex_lock(&service->lock);
	pier__list_add(&service->entries, &entry->link);
	service->exports++;
	show(service);
	pthread_mutex_unlock(&service->lock);
	return 0;
}

void pier__service_remove(struct pier__service_entry *entry)
{
	struct pier__service *service = entry->service;
	bool last;

	pthread_mutex_lock(&service->lock);
	pier__list_del(&entry->link);
	service->exports--;
	show(service);
	pthread_mutex_unlock(&service->lock);

	pthread_mutex_lock(&services_lock);
	last = !--service->entry_count;
	if (last) {
		pier__list_del(&service->link);
	} else {
		atomic_store(&service->sweep, true);
		pier_pe_wake(service->pe);
	}
	pthread_mutex_unlock(&services_lock);
	if (last)		/* others need not wait for its peers */
		service_destroy(service);
}

int pier__service_wait(struct pier__service_entry *entry, uint64_t deadline)
{
	struct pier__service *service = entry->service;
	struct timespec until = {
		.tv_sec = (time_t)(deadline / SECOND),
		.tv_nsec = (long)(deadline % SECOND),
	};
	int err = 0, error;

	pthread_mutex_lock(&service->lock);
	while (!err && !service->error && (!entry->used || entry->clients))
		err = deadline == PIER__NEVER ?
			      pthread_cond_wait(&service->changed,
						&service->lock) :
			      pthread_cond_timedwait(&service->changed,
						     &service->lock, &until);
	error = service->error;
	pthread_mutex_unlock(&service->lock);
	if (error)	/* the text does not change again */
		return pier__fail_again(error, service->error_text);
	return -err;
}

uint16_t pier__service_port(const struct pier__service_entry *entry)
{
	return entry->service->port;
}

/* What still exists at exit is shown no longer. */
__attribute__((destructor)) static void leave(void)
{
	struct pier__list *pos, *tmp;

	PIER__LIST_EACH(pos, tmp, &services) {
		struct pier__service *service =
			pier__container_of(pos, struct pier__service, link);

		pier__service_file_hide(&service->file);
	}
}
