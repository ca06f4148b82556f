/* SPDX-License-Identifier: BSD-2-Clause */
#include <dlfcn.h>
#include <errno.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "dev/dev_impl.h"
#include "t/lib/caller.h"
#include "t/lib/event.h"
#include "t/lib/peer.h"
#include "t/lib/tap.h"

/* Features that a device has are used; without one what needs it is refused. */

#define LEN 4096
#define PART 64
#define WORD 1024		/* where atomics work */
#define RESULT 2048
#define ADDS 500

static struct pier_dev *dev;
static const struct pier_devinfo *info;
static struct peer a, b;		/* a pair, on one engine */

static void connections_by_address_are_as_the_getter_promises(void)
{
	struct pier_listen_config cfg = { .size = sizeof(cfg) };
	struct caller client, server;
	struct pier_listener *listener;

	IS(pier_devinfo_has(info, PIER_FEATURE_RC), 0);
	IS(pier_devinfo_has(info, PIER_FEATURE_ADDRESS), 0);
	if (caller_pair(&client, &server, dev, NULL, LEN) &&
	    caller_listen(&server, 0) &&
	    caller_join(&client, &server, NULL))
		caller_flow(client.peer.conn, &server);
	caller_unpair(&client, &server);

	if (!caller_open(&server, dev, NULL, NULL, LEN))
		return;
	dev->info.port.limits.by_address = true;
	IS(pier_devinfo_has(info, PIER_FEATURE_ADDRESS), -EOPNOTSUPP);
	LIKE(pier_last_error(), "iWARP");
	IS(pier_rdma_listen(server.peer.rdma, &cfg, &listener), -EOPNOTSUPP);
	dev->info.port.limits.by_address = false;
	caller_close(&server);
}

static void comm_channels_are_as_the_getter_promises(void)
{
	struct pier_comch *comch = NULL;

	IS(pier_devinfo_has(info, PIER_FEATURE_COMCH), 0);
	IS(pier_comch_create_server(dev, NULL, "a", &comch), 0);
	pier_comch_destroy(comch);
	dev->info.port.limits.by_address = true;
	IS(pier_devinfo_has(info, PIER_FEATURE_COMCH), -EOPNOTSUPP);
	IS(pier_comch_create_server(dev, NULL, "a", &comch), -EOPNOTSUPP);
	LIKE(pier_last_error(), "iWARP");
	dev->info.port.limits.by_address = false;
}

static atomic_bool adding;
static uint64_t cpu_adds;

static void *add_by_cpu(void *arg)
{
	while (atomic_load(&adding)) {
		__atomic_fetch_add((uint64_t *)arg, 1, __ATOMIC_SEQ_CST);
		cpu_adds++;
	}
	return NULL;
}

/* A thread adds 1, a peer adds 2^32: none of both is lost. */
static void atomics_are_atomic_with_the_cpus_where_promised(void)
{
	struct pier_buf *dst, *result;
	uint64_t *word;
	pthread_t thread;
	int status, i, err;

	err = pier_devinfo_has(info, PIER_FEATURE_ATOMIC_CPU);
	if (err) {
		IS(err, -EOPNOTSUPP);
		LIKE(pier_last_error(), "atomic among themselves only");
		return;
	}
	if (!peer_pair(&a, &b, dev, NULL, LEN))
		return;
	dst = peer_far_data(&a, WORD, 8);
	result = peer_tail(&a, RESULT, 8);
	word = (uint64_t *)(void *)(b.mem + WORD);
	atomic_store(&adding, true);
	pthread_create(&thread, NULL, add_by_cpu, word);
	for (i = 0; i < ADDS && !err; i++) {
		pier_buf_reset(result);
		status = -EINPROGRESS;
		err = pier_rdma_fetch_add(a.conn, dst, result,
					  UINT64_C(1) << 32, peer_done,
					  &status);
		if (!err)
			err = peer_await(&status);
	}
	atomic_store(&adding, false);
	pthread_join(thread, NULL);
	IS(err, 0);
	OK(*word == ((uint64_t)ADDS << 32) + cpu_adds);
	pier_buf_put(dst);
	pier_buf_put(result);
	peer_unpair(&a, &b);
}

/* While set libcrypto has no such algorithm. */
static const char *absent = "";

EVP_MD *EVP_MD_fetch(OSSL_LIB_CTX *ctx, const char *name, const char *query)
{
	EVP_MD *(*next)(OSSL_LIB_CTX *, const char *, const char *);

	*(void **)&next = dlsym(RTLD_NEXT, "EVP_MD_fetch");
	return strcmp(name, absent) ? next(ctx, name, query) : NULL;
}

static int hash(enum pier_sha_algorithm algorithm)
{
	struct pier_buf *src = peer_data(&a, 0, PART);
	struct pier_buf *dst = peer_tail(&a, RESULT, PART);
	struct pier_sha *sha = NULL;
	int status = -EINPROGRESS;

	IS(pier_sha_create(&sha), 0);
	IS(pier_ctx_start(pier_sha_ctx(sha), a.pe), 0);
	IS(pier_sha_hash(sha, algorithm, src, dst, peer_done, &status), 0);
	if (!peer_await(&status))
		IS(pier_buf_data_len(dst), pier_sha_digest_len(algorithm));
	else
		LIKE(pier_last_error(), "libcrypto has no SHA");
	pier_sha_destroy(sha);
	pier_buf_put(src);
	pier_buf_put(dst);
	return status;
}

static void hashes_are_of_the_algorithms_that_libcrypto_has(void)
{
	static const char *const names[] = { "SHA1", "SHA256", "SHA512" };
	int missing, i, want;

	if (!peer_pair(&a, &b, dev, NULL, LEN))
		return;
	for (missing = -1; missing <= PIER_SHA_512; missing++) {
		absent = missing < 0 ? "" : names[missing];
		for (i = PIER_SHA_1; i <= PIER_SHA_512; i++) {
			want = i == missing ? -EOPNOTSUPP : 0;
			IS(pier_devinfo_has(info, PIER_FEATURE_SHA_1 + i),
			   want);
			if (want)
				LIKE(pier_last_error(), names[i]);
			IS(hash(i), want);
		}
	}
	absent = "";
	peer_unpair(&a, &b);
}

static void sync_events_are_waited_for_in_every_way_promised(void)
{
	struct pier_sync_event *event = event_own(dev, 40);
	int feature, how;

	for (feature = PIER_FEATURE_WAIT_BUSY;
	     feature <= PIER_FEATURE_SYNC_CTX; feature++)
		IS(pier_devinfo_has(info, feature), 0);
	for (how = PIER_SYNC_EVENT_BUSY; how <= PIER_SYNC_EVENT_YIELD; how++) {
		IS(pier_sync_event_wait_gt(event, 39, UINT64_MAX, how, 0), 0);
		IS(pier_sync_event_wait_gt(event, 40, UINT64_MAX, how, 0),
		   -ETIMEDOUT);
		IS(pier_sync_event_wait_eq(event, 40, UINT64_MAX, how, 0), 0);
		IS(pier_sync_event_wait_eq(event, 41, UINT64_MAX, how, 0),
		   -ETIMEDOUT);
		IS(pier_sync_event_wait_neq(event, 41, UINT64_MAX, how, 0), 0);
		IS(pier_sync_event_wait_neq(event, 40, UINT64_MAX, how, 0),
		   -ETIMEDOUT);
	}
	IS(pier_sync_event_wait_eq(event, 40, UINT64_MAX, how, 0), -EINVAL);
	pier_sync_event_destroy(event);
}

static void imported_sync_events_have_the_calls_promised(void)
{
	struct pier_sync_event *event = event_own(dev, 40), *far = NULL;
	int want = pier_devinfo_has(info, PIER_FEATURE_SYNC_IMPORTED);
	const void *desc;
	uint64_t value;
	size_t len;

	IS(want, pier_devinfo_has(info, PIER_FEATURE_ADDRESS));
	IS(pier_sync_event_export_process(event, &desc, &len), want);
	if (want)
		return;
	IS(pier_sync_event_import_process(dev, desc, len, &far), 0);
	IS(pier_sync_event_start(far), 0);
	IS(pier_sync_event_set(far, 39), 0);
	IS(pier_sync_event_add(far, 1, &value),
	   pier_devinfo_can_task(info, PIER_TASK_NOTIFY_ADD));
	IS(pier_sync_event_get(far, &value), 0);
	IS(pier_sync_event_wait_gt(far, 38, UINT64_MAX, PIER_SYNC_EVENT_YIELD,
				   0), 0);
	pier_sync_event_destroy(far);
	pier_sync_event_destroy(event);
}

/* What no device here has, and a part of the reason. */
static const struct {
	enum pier_feature feature;
	const char *reason;
} lacking[] = {
	{ PIER_FEATURE_DC, "one vendor" },
	{ PIER_FEATURE_UD, "datagrams" },
	{ PIER_FEATURE_CLOCK, "clock" },
	{ PIER_FEATURE_HOTPLUG, "plugged" },
	{ PIER_FEATURE_MODERATION, "moderated" },
	{ PIER_FEATURE_DPA, "processors" },
	{ PIER_FEATURE_GPU, "GPU" },
	{ PIER_FEATURE_DMABUF, "dma-bufs" },
};

static void features_without_hardware_have_a_reason(void)
{
	size_t i;

	for (i = 0; i < sizeof(lacking) / sizeof(lacking[0]); i++) {
		if (lacking[i].feature == PIER_FEATURE_DMABUF &&
		    !pier_devinfo_has(info, PIER_FEATURE_DMABUF))
			continue;	/* t/mem/dmabuf.c uses it */
		IS(pier_devinfo_has(info, lacking[i].feature), -EOPNOTSUPP);
		LIKE(pier_last_error(), pier_devinfo_name(info));
		LIKE(pier_last_error(), lacking[i].reason);
	}
	IS(pier_devinfo_has(info, PIER_FEATURE_COMCH + 1), -EINVAL);
	LIKE(pier_last_error(), "feature 22: 0 to 21");
	IS(pier_devinfo_has(info, (enum pier_feature)-1), -EINVAL);
}

int main(void)
{
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	info = pier_dev_info(dev);
	TEST(connections_by_address_are_as_the_getter_promises);
	TEST(comm_channels_are_as_the_getter_promises);
	TEST(atomics_are_atomic_with_the_cpus_where_promised);
	TEST(hashes_are_of_the_algorithms_that_libcrypto_has);
	TEST(sync_events_are_waited_for_in_every_way_promised);
	TEST(imported_sync_events_have_the_calls_promised);
	TEST(features_without_hardware_have_a_reason);
	pier_dev_close(dev);
	return tap_done();
}
