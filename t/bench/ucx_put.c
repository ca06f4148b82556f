/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Eight bytes put by UCX into the memory of another process, one after the
 * other: until the peer has them, as ucp_ep_flush_nbx() reports, which is what
 * the completion of an RDMA write means.  Prints microseconds, median and
 * average.  ucx_perftest's ucp_put_lat is another thing: one way.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

#include <ucp/api/ucp.h>

#include "bench/procs.h"

#define WARMUP 1000
#define SIZE 8
#define BLOB_MAX 4096

/* This process, and what it has of the other. */
static ucp_context_h context;
static ucp_worker_h worker;
static ucp_ep_h ep;
static ucp_rkey_h rkey;
static char memory[4096];
static void *remote;

static void must(const char *what, ucs_status_t status)
{
	if (status != UCS_OK)
		proc_die("ucx_put: %s: %s", what, ucs_status_string(status));
}

static void open_worker(void)
{
	ucp_params_t params = {
		.field_mask = UCP_PARAM_FIELD_FEATURES,
		.features = UCP_FEATURE_RMA,
	};
	ucp_worker_params_t worker_params = {
		.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
		.thread_mode = UCS_THREAD_MODE_SINGLE,
	};

	must("ucp_init", ucp_init(&params, NULL, &context));
	must("ucp_worker_create",
	     ucp_worker_create(context, &worker_params, &worker));
}

/* Send the other side where to put. */
static void tell(int wire)
{
	ucp_mem_map_params_t params = {
		.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS |
			      UCP_MEM_MAP_PARAM_FIELD_LENGTH,
		.address = memory,
		.length = sizeof(memory),
	};
	ucp_address_t *address;
	void *key, *base = memory;
	ucp_mem_h mapped;
	size_t len;

	must("ucp_mem_map", ucp_mem_map(context, &params, &mapped));
	must("ucp_worker_get_address",
	     ucp_worker_get_address(worker, &address, &len));
	proc_put(wire, address, len);
	must("ucp_rkey_pack", ucp_rkey_pack(context, mapped, &key, &len));
	proc_put(wire, key, len);
	proc_put(wire, &base, sizeof(base));
}

static void await_peer(int wire)
{
	static char address[BLOB_MAX], key[BLOB_MAX];
	ucp_ep_params_t params = {
		.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,
		.address = (const ucp_address_t *)address,
	};

	proc_get(wire, address, sizeof(address));
	proc_get(wire, key, sizeof(key));
	proc_get(wire, &remote, sizeof(remote));
	must("ucp_ep_create", ucp_ep_create(worker, &params, &ep));
	must("ucp_ep_rkey_unpack", ucp_ep_rkey_unpack(ep, key, &rkey));
}

static void meet(int wire)
{
	open_worker();
	tell(wire);
	await_peer(wire);
}

static void serve(int wire, void *arg)
{
	(void)arg;
	meet(wire);
	for (;;)
		ucp_worker_progress(worker);
}

static void await(const char *what, ucs_status_ptr_t request)
{
	ucs_status_t status = UCS_PTR_STATUS(request);

	if (UCS_PTR_IS_PTR(request)) {
		do {
			ucp_worker_progress(worker);
			status = ucp_request_check_status(request);
		} while (status == UCS_INPROGRESS);
		ucp_request_free(request);
	}
	must(what, status);
}

static void put(void)
{
	static const ucp_request_param_t none;
	static const char bytes[SIZE];

	await("ucp_put_nbx", ucp_put_nbx(ep, bytes, sizeof(bytes),
					 (uintptr_t)remote, rkey, &none));
	await("ucp_ep_flush_nbx", ucp_ep_flush_nbx(ep, &none));
}

int main(int argc, char *argv[])
{
	int count = argc > 1 ? atoi(argv[1]) : 0, wire, i;
	double *laps, start;

	if (count < 1)
		proc_die("usage: ucx_put COUNT");
	laps = calloc((size_t)count, sizeof(*laps));
	if (!laps)
		proc_die("no memory");
	wire = proc_fork(PROC_B, serve, NULL);
	proc_be(PROC_A);
	meet(wire);
	for (i = -WARMUP; i < count; i++) {
		start = proc_now();
		put();
		if (i >= 0)
			laps[i] = proc_now() - start;
	}
	proc_print(laps, (size_t)count);
	return 0;
}
