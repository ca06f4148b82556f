/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "t/lib/lane_op.h"

#define WORD sizeof(uint64_t)

static int create_event(struct lane *lane, uint32_t publisher,
			struct pier_sync_event **ret)
{
	struct pier_sync_event_config cfg = {
		.size = sizeof(cfg),
		.publisher = publisher,
		.subscriber = PIER_SYNC_EVENT_CPU,
		.dev = lane->dev,
	};
	int err = pier_sync_event_create(ret);

	return err ? err : pier_sync_event_configure(*ret, &cfg);
}

/* One that runs as a context. */
static int open_event(struct lane *lane, struct pier_sync_event **ret)
{
	int err = create_event(lane, PIER_SYNC_EVENT_CPU, ret);

	return err ? err : pier_ctx_start(pier_sync_event_ctx(*ret), lane->pe);
}

/* One of @end that @other sets. */
static int open_far(struct lane *lane, struct lane_end *end,
		    struct lane_end *other)
{
	const void *desc;
	size_t len;
	int err = create_event(lane, PIER_SYNC_EVENT_REMOTE, &end->event);

	if (!err)
		err = pier_sync_event_start(end->event);
	if (!err)
		err = pier_sync_event_export(end->event, &desc, &len);
	if (!err)
		err = pier_sync_event_create_from_export(NULL, desc, len,
							 &other->far);
	return err ? err : pier_sync_event_start(other->far);
}

int lane_events_open(struct lane *lane)
{
	int err = open_event(lane, &lane->event);

	if (!err)
		err = open_event(lane, &lane->counter);
	if (!err)
		err = open_far(lane, &lane->ends[0], &lane->ends[1]);
	return err ? err : open_far(lane, &lane->ends[1], &lane->ends[0]);
}

void lane_events_close(struct lane *lane)
{
	for (int i = 0; i < 2; i++) {
		pier_sync_event_destroy(lane->ends[i].far);
		pier_sync_event_destroy(lane->ends[i].event);
	}
	pier_sync_event_destroy(lane->counter);
	pier_sync_event_destroy(lane->event);
}

/* A wait for the counter that is submitted before what it waits for. */
static int count(struct lane *lane)
{
	struct pier_task *task;
	int err = pier_sync_event_task_wait_gt(lane->counter, lane->count++,
					       UINT64_MAX, &task);

	err = lane_run_task(lane, err, &task);
	if (!err)
		err = pier_sync_event_task_add(lane->counter, 1, NULL, &task);
	return lane_run_task(lane, err, &task);
}

/* Set the event, add to it, wait for the sum, read it: one after the other. */
int lane_event(const struct lane_op *op)
{
	struct lane *lane = op->lane;
	struct pier_sync_event *event = lane->event;
	uint64_t *want = lane->words[op->slot], *seen = lane->seen[op->slot];
	uint64_t change = lane_random(lane) | 1;
	struct pier_task *task;
	int err;

	want[0] = lane_random(lane);
	want[1] = want[0] + change;
	err = pier_sync_event_task_set(event, want[0], &task);
	err = lane_run_task(lane, err, &task);
	if (!err)
		err = pier_sync_event_task_add(event, change, &seen[0], &task);
	err = lane_run_task(lane, err, &task);
	if (!err)
		err = pier_sync_event_task_wait_eq(event, want[1], UINT64_MAX,
						   &task);
	err = lane_run_task(lane, err, &task);
	if (!err)
		err = pier_sync_event_task_wait_neq(event, want[0], UINT64_MAX,
						    &task);
	err = lane_run_task(lane, err, &task);
	if (!err)
		err = pier_sync_event_task_get(event, &seen[1], &task);
	err = lane_run_task(lane, err, &task);
	lane_expect(lane, seen, want, 2 * WORD);
	return err ? err : count(lane);
}

static int post(const struct lane_op *op, const uint64_t *source,
		uint64_t change, uint8_t *target)
{
	struct pier_buf *src = NULL, *old = NULL, *now = NULL;
	struct lane_end *end = op->from;
	struct lane *lane = op->lane;
	int err = pier_buf_by_data(end->inv, end->mmap,
				   (void *)(uintptr_t)source, WORD, &src);

	if (!err)
		err = pier_buf_by_addr(end->inv, end->mmap, target, WORD, &old);
	if (!err)
		err = pier_buf_by_addr(end->inv, end->mmap, target + WORD, WORD,
				       &now);
	if (!err)
		err = pier_rdma_notify_set(end->conn, end->far, src, lane_done,
					   lane);
	err = lane_submitted(lane, err, src, NULL);
	if (!err)
		err = pier_rdma_notify_add(end->conn, end->far, old, change,
					   lane_done, lane);
	err = lane_submitted(lane, err, old, NULL);
	if (!err)
		err = pier_rdma_remote_get(end->conn, end->far, now, lane_done,
					   lane);
	return lane_submitted(lane, err, now, NULL);
}

/*
 * The same with the event of the other end, in the order of the connection.
 * Once in a batch: a read may be carried out after the next one's write.
 */
int lane_far_event(const struct lane_op *op)
{
	uint64_t *want = op->lane->words[op->slot];
	uint64_t change = lane_random(op->lane);
	uint8_t *target = lane_target(op->from, op->slot);
	const uint8_t *source = lane_source(op->from, op->slot);

	if (op->lane->far_events++)
		return lane_event(op);
	memcpy(&want[0], source, WORD);
	want[1] = want[0] + change;
	lane_expect(op->lane, target, want, 2 * WORD);
	return post(op, (const uint64_t *)(const void *)source, change,
		    target);
}
