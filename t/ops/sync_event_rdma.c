/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "mem/mmap_impl.h"
#include "ops/sync_event_impl.h"
#include "t/lib/limit.h"
#include "t/lib/peer.h"
#include "t/lib/tap.h"

/* Sync events that a peer sets, adds to and reads by RDMA. */

#define LEN 4096
#define CPU PIER_SYNC_EVENT_CPU
#define REMOTE PIER_SYNC_EVENT_REMOTE
#define YIELD PIER_SYNC_EVENT_YIELD
#define ALL UINT64_MAX
#define ADDS 200

static struct pier_dev *dev;

/* @a uses the event that @b owns. */
struct scene {
	struct peer a, b;
	struct pier_sync_event *event, *remote;
};

static int configure(struct pier_sync_event *event, uint32_t publisher,
		     uint32_t subscriber, struct pier_dev *on)
{
	struct pier_sync_event_config cfg = {
		.size = sizeof(cfg),
		.publisher = publisher,
		.subscriber = subscriber,
		.dev = on,
	};

	return pier_sync_event_configure(event, &cfg);
}

static struct pier_sync_event *create(void)
{
	struct pier_sync_event *event = NULL;

	IS(pier_sync_event_create(&event), 0);
	IS(configure(event, REMOTE, CPU, dev), 0);
	return event;
}

/* The handle of a peer on the running @event, not started. */
static struct pier_sync_event *import(struct pier_sync_event *event)
{
	struct pier_sync_event *remote = NULL;
	const void *desc = NULL;
	size_t len = 0;

	IS(pier_sync_event_export(event, &desc, &len), 0);
	IS(pier_sync_event_create_from_export(dev, desc, len, &remote), 0);
	return remote;
}

static bool scene_open(struct scene *s)
{
	memset(s, 0, sizeof(*s));
	if (!peer_pair(&s->a, &s->b, dev, NULL, LEN))
		return false;
	s->event = create();
	if (!IS(pier_sync_event_start(s->event), 0))
		return false;
	s->remote = import(s->event);
	return s->remote && IS(pier_sync_event_start(s->remote), 0);
}

static void scene_close(struct scene *s)
{
	peer_unpair(&s->a, &s->b);
	pier_sync_event_destroy(s->remote);
	pier_sync_event_destroy(s->event);
}

static uint64_t value_of(const struct pier_sync_event *event)
{
	uint64_t value = 0xbad;

	IS(pier_sync_event_get(event, &value), 0);
	return value;
}

/* The word at @off of @peer's memory. */
static uint64_t word_at(const struct peer *peer, size_t off)
{
	uint64_t word;

	memcpy(&word, peer->mem + off, sizeof(word));
	return word;
}

static int run(struct pier_task *task)
{
	int status = -EINPROGRESS;

	pier_task_set_done(task, peer_done, &status);
	if (!IS(pier_task_submit(task, 0), 0))
		return -ECANCELED;
	return peer_await(&status);
}

static int set(struct scene *s, uint64_t value)
{
	struct pier_buf *src = peer_data(&s->a, 0, 8);
	int status = -EINPROGRESS;

	memcpy(s->a.mem, &value, sizeof(value));
	IS(pier_rdma_notify_set(s->a.conn, s->remote, src, peer_done, &status),
	   0);
	peer_await(&status);
	pier_buf_put(src);
	return status;
}

static int add(struct scene *s, uint64_t value, uint64_t *before)
{
	struct pier_buf *result = peer_tail(&s->a, 8, 8);
	int status = -EINPROGRESS;

	IS(pier_rdma_notify_add(s->a.conn, s->remote, result, value, peer_done,
				&status), 0);
	peer_await(&status);
	IS(pier_buf_data_len(result), status ? 0 : 8);
	*before = word_at(&s->a, 8);
	pier_buf_put(result);
	return status;
}

static int get(struct scene *s, uint64_t *value)
{
	struct pier_buf *dst = peer_tail(&s->a, 16, 64);
	int status = -EINPROGRESS;

	IS(pier_rdma_remote_get(s->a.conn, s->remote, dst, peer_done, &status),
	   0);
	peer_await(&status);
	IS(pier_buf_data_len(dst), status ? 0 : 8);
	*value = word_at(&s->a, 16);
	pier_buf_put(dst);
	return status;
}

static void a_peer_sets_adds_and_gets(void)
{
	struct scene s;
	uint64_t value;

	if (!scene_open(&s))
		return;
	IS(get(&s, &value), 0);
	IS(value, 0);
	IS(set(&s, ALL - 1), 0);
	OK(value_of(s.event) == ALL - 1);
	IS(add(&s, 3, &value), 0);
	OK(value == ALL - 1);
	IS(value_of(s.event), 1);
	IS(pier_sync_event_set(s.event, UINT64_C(1) << 63), 0);
	IS(get(&s, &value), 0);
	OK(value == UINT64_C(1) << 63);
	scene_close(&s);
}

static void a_task_is_submitted_again_and_again(void)
{
	struct scene s;
	struct pier_buf *src, *dst;
	struct pier_task *setter, *getter;
	uint64_t i;

	if (!scene_open(&s))
		return;
	src = peer_data(&s.a, 0, 8);
	dst = peer_tail(&s.a, 8, 8);
	IS(pier_rdma_task_notify_set(s.a.conn, s.remote, src, &setter), 0);
	IS(pier_task_type(setter), PIER_TASK_NOTIFY_SET);
	IS(pier_rdma_task_remote_get(s.a.conn, s.remote, dst, &getter), 0);
	for (i = 1; i < 5; i++) {
		memcpy(s.a.mem, &i, sizeof(i));
		pier_buf_reset(dst);
		IS(run(setter), 0);
		IS(run(getter), 0);
		IS(value_of(s.event), i);
		IS(word_at(&s.a, 8), i);
	}
	IS(pier_buf_data_len(src), 8);
	IS(pier_rdma_task_set_event(getter, s.remote, dst), 0);
	IS(pier_task_submit(getter, 0), -EMSGSIZE);
	pier_task_free(setter);
	pier_task_free(getter);
	pier_buf_put(src);
	pier_buf_put(dst);
	scene_close(&s);
}

struct owner_wait {
	struct pier_sync_event *event;
	enum pier_sync_event_wait how;
	int err;
};

static void *wait_for_nine(void *arg)
{
	struct owner_wait *w = arg;

	w->err = pier_sync_event_wait_eq(w->event, 9, ALL, w->how, LIMIT_MS);
	return NULL;
}

static void a_thread_of_the_owner_sees_a_remote_set(void)
{
	long long limit = limit_from_now();
	enum pier_sync_event_wait how;
	struct scene s;

	if (!scene_open(&s))
		return;
	for (how = PIER_SYNC_EVENT_BUSY; how <= YIELD; how++) {
		struct owner_wait w = { .event = s.event, .how = how };
		pthread_t thread;

		IS(set(&s, 1), 0);
		if (!IS(pthread_create(&thread, NULL, wait_for_nine, &w), 0))
			return;
		while (how == YIELD && !atomic_load(&s.event->sleepers) &&
		       limit_nap(limit))
			;
		IS(set(&s, 9), 0);
		pthread_join(thread, NULL);
		IS(w.err, 0);
	}
	scene_close(&s);
}

/* The owner is blocked in a wait, and drives no engine. */
static void an_owner_that_drives_no_engine_sees_a_remote_set(void)
{
	struct pier_buf *src;
	struct scene s;
	int status = -EINPROGRESS;
	long long limit = limit_from_now();
	uint64_t value = 7;

	memset(&s, 0, sizeof(s));
	if (!peer_open(&s.a, dev, NULL, NULL, LEN) ||
	    !peer_open(&s.b, dev, NULL, NULL, LEN) || !peer_join(&s.a, &s.b))
		return;
	s.event = create();
	IS(pier_sync_event_start(s.event), 0);
	s.remote = import(s.event);
	IS(pier_sync_event_start(s.remote), 0);
	memcpy(s.a.mem, &value, sizeof(value));
	src = peer_data(&s.a, 0, 8);
	IS(pier_rdma_notify_set(s.a.conn, s.remote, src, peer_done, &status),
	   0);
	while (status == -EINPROGRESS && limit_holds(limit))
		pier_pe_wait(s.a.pe, 10);
	IS(status, 0);
	IS(pier_sync_event_wait_eq(s.event, 7, ALL, YIELD, LIMIT_MS), 0);
	pier_buf_put(src);
	scene_close(&s);
}

static void a_context_of_the_owner_sees_a_remote_set(void)
{
	struct pier_task *task;
	struct scene s;
	int status = -EINPROGRESS;

	memset(&s, 0, sizeof(s));
	if (!peer_pair(&s.a, &s.b, dev, NULL, LEN))
		return;
	s.event = create();
	IS(pier_ctx_start(pier_sync_event_ctx(s.event), s.b.pe), 0);
	s.remote = import(s.event);
	IS(pier_sync_event_start(s.remote), 0);
	IS(pier_sync_event_task_wait_gt(s.event, 8, ALL, &task), 0);
	pier_task_set_done(task, peer_done, &status);
	IS(pier_task_submit(task, 0), 0);
	IS(set(&s, 8), 0);
	IS(status, -EINPROGRESS);
	IS(set(&s, 9), 0);
	IS(peer_await(&status), 0);
	pier_task_free(task);
	pier_sync_event_destroy(s.event);
	s.event = NULL;
	scene_close(&s);
}

static void *add_here(void *arg)
{
	int i;

	for (i = 0; i < ADDS; i++)
		pier_sync_event_add(arg, 1, NULL);
	return NULL;
}

/* pier_memory(7) promises it of soft devices only. */
static void the_cpu_and_a_peer_add_to_one_event(void)
{
	struct scene s;
	pthread_t thread;
	uint64_t before;
	int i;

	if (!scene_open(&s))
		return;
	IS(pthread_create(&thread, NULL, add_here, s.event), 0);
	for (i = 0; i < ADDS; i++)
		IS(add(&s, 1, &before), 0);
	pthread_join(thread, NULL);
	IS(value_of(s.event), 2 * ADDS);
	scene_close(&s);
}

static void an_imported_event_is_started_and_not_configured(void)
{
	struct pier_sync_event *event = create(), *remote;
	struct pier_pe *pe = NULL;
	const void *desc;
	size_t len;
	uint64_t value;

	IS(pier_sync_event_start(event), 0);
	remote = import(event);
	IS(pier_pe_create(&pe), 0);
	IS(configure(remote, CPU, CPU, NULL), -EPERM);
	LIKE(pier_last_error(), "imported");
	IS(pier_ctx_start(pier_sync_event_ctx(remote), pe), -EOPNOTSUPP);
	IS(pier_sync_event_start(remote), 0);
	IS(pier_sync_event_start(remote), -EBUSY);
	IS(configure(remote, CPU, CPU, NULL), -EPERM);
	IS(pier_sync_event_set(remote, 1), -EOPNOTSUPP);
	LIKE(pier_last_error(), "RDMA context");
	IS(pier_sync_event_add(remote, 1, NULL), -EOPNOTSUPP);
	IS(pier_sync_event_get(remote, &value), -EOPNOTSUPP);
	IS(pier_sync_event_wait_eq(remote, 0, ALL, YIELD, 0), -EOPNOTSUPP);
	IS(pier_sync_event_export(remote, &desc, &len), -EOPNOTSUPP);
	IS(pier_sync_event_stop(remote), 0);
	IS(pier_sync_event_start(remote), -ESHUTDOWN);
	pier_sync_event_destroy(remote);
	pier_sync_event_destroy(event);
	pier_pe_destroy(pe);
}

static void a_task_needs_an_imported_event_that_runs(void)
{
	struct pier_sync_event *idle;
	struct pier_buf *src;
	struct pier_task *task;
	struct scene s;

	if (!scene_open(&s))
		return;
	idle = import(s.event);
	src = peer_data(&s.a, 0, 8);
	IS(pier_rdma_task_notify_set(s.a.conn, s.event, src, &task), -EINVAL);
	LIKE(pier_last_error(), "imported");
	IS(pier_rdma_task_notify_set(s.a.conn, idle, src, &task), -ESHUTDOWN);
	IS(pier_rdma_task_remote_get(s.a.conn, idle, src, &task), -ESHUTDOWN);
	IS(pier_rdma_task_notify_add(s.a.conn, idle, src, 1, &task),
	   -ESHUTDOWN);
	IS(pier_rdma_task_notify_set(s.a.conn, s.remote, src, &task), 0);
	IS(pier_rdma_task_set_event(task, idle, src), -ESHUTDOWN);
	IS(pier_rdma_task_set_event(task, NULL, src), -EINVAL);
	IS(pier_sync_event_task_set_values(task, 0, 0, NULL), -EINVAL);
	IS(run(task), 0);
	IS(pier_sync_event_stop(s.remote), 0);
	IS(pier_rdma_task_set_event(task, s.remote, src), -ESHUTDOWN);
	IS(pier_task_submit(task, 0), -EINVAL);
	pier_task_free(task);
	pier_buf_put(src);
	pier_sync_event_destroy(idle);
	scene_close(&s);
}

static void bad_buffers_are_refused(void)
{
	struct pier_buf *half, *twice, *small;
	struct pier_task *task;
	struct scene s;

	if (!scene_open(&s))
		return;
	half = peer_data(&s.a, 0, 4);
	twice = peer_data(&s.a, 0, 16);
	small = peer_tail(&s.a, 0, 7);
	IS(pier_rdma_task_notify_set(s.a.conn, s.remote, NULL, &task), -EINVAL);
	IS(pier_rdma_task_notify_set(s.a.conn, s.remote, half, &task), 0);
	IS(pier_task_submit(task, 0), -EINVAL);
	LIKE(pier_last_error(), "4 bytes");
	IS(pier_rdma_task_set_event(task, s.remote, twice), 0);
	IS(pier_task_submit(task, 0), -EMSGSIZE);
	IS(pier_rdma_task_set_bufs(task, half, half), -EINVAL);
	LIKE(pier_last_error(), "set_event");
	pier_task_free(task);
	IS(pier_rdma_task_remote_get(s.a.conn, s.remote, small, &task), 0);
	IS(pier_task_submit(task, 0), -EMSGSIZE);
	pier_task_free(task);
	IS(pier_rdma_task_notify_add(s.a.conn, s.remote, small, 1, &task), 0);
	IS(pier_task_submit(task, 0), -EMSGSIZE);
	pier_task_free(task);
	IS(pier_rdma_task_send(s.a.conn, half, &task), 0);
	IS(pier_rdma_task_set_event(task, s.remote, half), -EINVAL);
	pier_task_free(task);
	pier_buf_put(half);
	pier_buf_put(twice);
	pier_buf_put(small);
	IS(value_of(s.event), 0);
	scene_close(&s);
}

static void a_remote_location_requires_a_device(void)
{
	struct pier_sync_event *event = NULL;

	IS(pier_sync_event_create(&event), 0);
	IS(configure(event, CPU, REMOTE, NULL), 0);
	IS(pier_sync_event_start(event), -EINVAL);
	LIKE(pier_last_error(), "no device");
	IS(configure(event, REMOTE, CPU, NULL), 0);
	IS(pier_sync_event_start(event), -EINVAL);
	IS(configure(event, CPU, REMOTE, dev), 0);
	IS(pier_sync_event_start(event), 0);
	pier_sync_event_destroy(event);
}

static void only_a_running_event_with_a_remote_location_is_exported(void)
{
	struct pier_sync_event *event = create();
	uint8_t copy[1024];
	const void *desc, *again;
	size_t len, again_len;

	IS(pier_sync_event_export(event, &desc, &len), -ESHUTDOWN);
	IS(configure(event, CPU, CPU, dev), 0);
	IS(pier_sync_event_start(event), 0);
	IS(pier_sync_event_export(event, &desc, &len), -EACCES);
	LIKE(pier_last_error(), "remote");
	pier_sync_event_destroy(event);
	event = create();
	IS(pier_sync_event_start(event), 0);
	IS(pier_sync_event_export(event, &desc, &len), 0);
	IS(pier_sync_event_export(event, &again, &again_len), 0);
	OK(desc == again);
	OK(len == again_len && len <= sizeof(copy));
	memcpy(copy, desc, len);
	IS(pier_sync_event_stop(event), 0);
	IS(pier_sync_event_export(event, &again, &again_len), -ESHUTDOWN);
	OK(!memcmp(copy, desc, len));	/* until it is destroyed */
	pier_sync_event_destroy(event);
}

/* Either side may do what the other is declared for. */
static void a_location_grants_and_forbids_nothing(void)
{
	struct scene s;
	uint64_t value;

	if (!scene_open(&s))
		return;
	IS(pier_sync_event_set(s.event, 3), 0);
	IS(pier_sync_event_wait_eq(s.event, 3, ALL, YIELD, 0), 0);
	IS(get(&s, &value), 0);
	IS(value, 3);
	scene_close(&s);
}

static int try_import(const struct pier_mmap *mmap)
{
	struct pier_sync_event *remote = NULL;
	uint8_t desc[PIER_DESC_MAX];
	int len = pier__mmap_describe(mmap, 0, desc, sizeof(desc));
	int err;

	if (!OK(len > 0))
		return len;
	err = pier_sync_event_create_from_export(dev, desc, (size_t)len,
						 &remote);
	pier_sync_event_destroy(remote);
	return err;
}

static void descriptors_of_anything_but_an_event_are_refused(void)
{
	struct pier_sync_event *event = create(), *remote;
	struct pier_mmap *mmap, fake;
	const void *desc;
	uint8_t copy[PIER_DESC_MAX];
	size_t len, i;

	IS(pier_sync_event_start(event), 0);
	fake = *event->mmap;
	IS(try_import(&fake), 0);
	fake.cfg.len = 16;
	IS(try_import(&fake), -PIER_EDESC);
	LIKE(pier_last_error(), "16 bytes");
	fake.cfg.len = 8;
	fake.cfg.addr = (char *)fake.cfg.addr + 4;
	IS(try_import(&fake), -PIER_EDESC);
	fake = *event->mmap;
	fake.cfg.access = PIER_REMOTE_READ;
	IS(try_import(&fake), -PIER_EDESC);
	LIKE(pier_last_error(), "it has PIER_REMOTE_READ, an event has");

	IS(pier_sync_event_export(event, &desc, &len), 0);
	IS(pier_mmap_create_from_export(dev, desc, len, &mmap), -PIER_EKIND);
	memcpy(copy, desc, len);
	for (i = 0; i < len; i++) {
		copy[i] ^= 1;
		OK(pier_sync_event_create_from_export(NULL, copy, len,
						      &remote) < 0);
		copy[i] ^= 1;
		OK(pier_sync_event_create_from_export(NULL, copy, i,
						      &remote) < 0);
	}
	fake = *event->mmap;
	fake.kind = PIER__WIRE_MMAP;
	IS(try_import(&fake), -PIER_EKIND);
	pier_sync_event_destroy(event);
}

static void a_descriptor_is_printed(void)
{
	struct pier_sync_event *event = create();
	const void *desc;
	char text[1024];
	size_t len;

	IS(pier_sync_event_start(event), 0);
	IS(pier_sync_event_export(event, &desc, &len), 0);
	OK(pier_desc_print(desc, len, text, sizeof(text)) > 0);
	LIKE(text, "kind: sync event\n");
	LIKE(text, "length: 8\n");
	pier_sync_event_destroy(event);
}

static void a_stop_ends_the_access_of_peers(void)
{
	struct scene s;

	if (!scene_open(&s))
		return;
	IS(set(&s, 5), 0);
	IS(pier_sync_event_stop(s.event), 0);
	IS(set(&s, 6), -PIER_EREMACCESS);
	IS(s.event->own_word, 5);
	scene_close(&s);
}

static void a_handle_is_destroyed_while_its_task_is_in_flight(void)
{
	struct pier_buf *src;
	struct scene s;
	int status = -EINPROGRESS;

	if (!scene_open(&s))
		return;
	src = peer_data(&s.a, 0, 8);
	IS(pier_rdma_notify_set(s.a.conn, s.remote, src, peer_done, &status),
	   0);
	pier_sync_event_destroy(s.remote);
	s.remote = NULL;
	IS(peer_await(&status), 0);
	OK(value_of(s.event) == word_at(&s.a, 0));
	pier_buf_put(src);
	scene_close(&s);
}

int main(void)
{
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	TEST(a_peer_sets_adds_and_gets);
	TEST(a_task_is_submitted_again_and_again);
	TEST(a_thread_of_the_owner_sees_a_remote_set);
	TEST(an_owner_that_drives_no_engine_sees_a_remote_set);
	TEST(a_context_of_the_owner_sees_a_remote_set);
	if (!strcmp(pier_devinfo_kind(pier_dev_info(dev)), "soft"))
		TEST(the_cpu_and_a_peer_add_to_one_event);
	TEST(an_imported_event_is_started_and_not_configured);
	TEST(a_task_needs_an_imported_event_that_runs);
	TEST(bad_buffers_are_refused);
	TEST(a_remote_location_requires_a_device);
	TEST(only_a_running_event_with_a_remote_location_is_exported);
	TEST(a_location_grants_and_forbids_nothing);
	TEST(descriptors_of_anything_but_an_event_are_refused);
	TEST(a_descriptor_is_printed);
	TEST(a_stop_ends_the_access_of_peers);
	TEST(a_handle_is_destroyed_while_its_task_is_in_flight);
	pier_dev_close(dev);
	return tap_done();
}
