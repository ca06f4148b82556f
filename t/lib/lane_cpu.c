/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <openssl/evp.h>
#include <string.h>

#include "t/lib/lane_op.h"

static int run_call(void *arg)
{
	struct lane_call *call = arg;

	if (call->again)
		return call->again-- & 1 ? -EINPROGRESS : -EAGAIN;
	memcpy(call->dst, call->src, call->len);
	return 0;
}

static int add_nodes(struct lane *lane)
{
	struct pier_graph_node **nodes = lane->nodes;
	int err = pier_graph_add_ctx(lane->graph, pier_sha_ctx(lane->sha),
				     &nodes[0]);

	if (!err)
		err = pier_graph_add_ctx(lane->graph, pier_dma_ctx(lane->dma),
					 &nodes[1]);
	if (!err)
		err = pier_graph_add_user(lane->graph, run_call, &nodes[2]);
	for (int i = 0; !err && i < 2; i++)
		err = pier_graph_add_dependency(lane->graph, nodes[i],
						nodes[2]);
	return err;
}

int lane_cpu_open(struct lane *lane)
{
	int err = pier_func_create(&lane->func);

	if (!err)
		err = pier_ctx_start(pier_func_ctx(lane->func), lane->pe);
	if (!err)
		err = pier_sha_create(&lane->sha);
	if (!err)
		err = pier_ctx_start(pier_sha_ctx(lane->sha), lane->pe);
	if (!err)
		err = pier_graph_create(&lane->graph);
	if (!err)
		err = add_nodes(lane);
	return err ? err : pier_ctx_start(pier_graph_ctx(lane->graph),
					  lane->pe);
}

void lane_cpu_close(struct lane *lane)
{
	pier_graph_destroy(lane->graph);
	pier_sha_destroy(lane->sha);
	pier_func_destroy(lane->func);
}

static struct lane_call *set_call(const struct lane_op *op, uint8_t *dst,
				  const uint8_t *src, size_t len)
{
	struct lane_call *call = &op->lane->calls[op->slot];

	call->dst = dst;
	call->src = src;
	call->len = len;
	call->again = lane_random(op->lane) % 4;
	return call;
}

int lane_call(const struct lane_op *op)
{
	uint8_t *dst = lane_target(op->to, op->slot);
	const uint8_t *src = lane_source(op->to, op->slot);
	struct lane_call *call = set_call(op, dst, src, op->len);
	int err = pier_func_call(op->lane->func, run_call, call, lane_done,
				 op->lane);

	lane_expect(op->lane, dst, src, op->len);
	return lane_submitted(op->lane, err, NULL, NULL);
}

/* A task that digests the source, to the target; what it gives. */
static int take_hash(const struct lane_op *op, size_t *ret_len,
		     struct pier_task **ret)
{
	static const char *const names[] = { "SHA1", "SHA256", "SHA512" };
	unsigned int algorithm = (unsigned int)lane_random(op->lane) % 3;
	struct pier_buf *src = NULL, *dst = NULL;
	uint8_t *at = lane_source(op->to, op->slot);
	int err = pier_buf_by_data(op->to->inv, op->to->mmap, at, op->len,
				   &src);

	*ret_len = pier_sha_digest_len(algorithm);
	if (EVP_Q_digest(NULL, names[algorithm], NULL, at, op->len,
			 op->lane->digests[op->slot], NULL) != 1)
		return -EIO;
	err = lane_keep(op->lane, err, &src);
	if (!err)
		err = pier_buf_by_addr(op->to->inv, op->to->mmap,
				       lane_target(op->to, op->slot),
				       *ret_len, &dst);
	err = lane_keep(op->lane, err, &dst);
	if (!err)
		err = pier_sha_task_hash(op->lane->sha, algorithm, src, dst,
					 ret);
	return err;
}

int lane_hash(const struct lane_op *op)
{
	struct pier_task *task;
	size_t len;
	int err = take_hash(op, &len, &task);

	lane_expect(op->lane, lane_target(op->to, op->slot),
		    op->lane->digests[op->slot], len);
	return lane_run_task(op->lane, err, &task);
}

/* A task that copies the source to the target of the other end. */
static int take_copy(const struct lane_op *op, struct pier_task **ret)
{
	struct pier_buf *src = NULL, *dst = NULL;
	int err = pier_buf_by_data(op->to->inv, op->to->mmap,
				   lane_source(op->to, op->slot), op->len,
				   &src);

	err = lane_keep(op->lane, err, &src);
	if (!err)
		err = pier_buf_by_addr(op->from->inv, op->from->mmap,
				       lane_target(op->from, op->slot),
				       op->len, &dst);
	err = lane_keep(op->lane, err, &dst);
	return err ? err : pier_dma_task_copy(op->lane->dma, src, dst, ret);
}

/* A digest and a copy, then a function that copies the digest. */
int lane_graph(const struct lane_op *op)
{
	struct pier_task *hash = NULL, *copy = NULL, *task = NULL;
	struct lane *lane = op->lane;
	uint8_t *digest = lane_target(op->to, op->slot);
	uint8_t *after = digest + PIER_SHA_DIGEST_MAX;
	size_t len = 0;
	int err = lane_take(lane, take_hash(op, &len, &hash), &hash);

	if (!err)
		err = lane_take(lane, take_copy(op, &copy), &copy);
	if (!err)
		err = pier_graph_task(lane->graph, &task);
	if (!err)
		err = pier_graph_task_set_task(task, lane->nodes[0], hash);
	if (!err)
		err = pier_graph_task_set_task(task, lane->nodes[1], copy);
	if (!err)
		err = pier_graph_task_set_arg(task, lane->nodes[2],
					      set_call(op, after, digest, len));
	lane_expect(lane, after, lane->digests[op->slot], len);
	lane_expect(lane, lane_target(op->from, op->slot),
		    lane_source(op->to, op->slot), op->len);
	return lane_run_task(lane, err, &task);
}
