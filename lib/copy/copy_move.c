/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include <pier/buf.h>
#include <pier/mmap.h>

#include "copy/copy_impl.h"
#include "core/fail.h"

static size_t memory_len(const struct pier__copy_session *s)
{
	return (size_t)s->slots * s->slot_size;
}

int pier__copy_session_alloc(struct pier__copy_session *s)
{
	struct pier_mmap_config cfg = {
		.size = sizeof(cfg),
		.access = s->is_server ? PIER_LOCAL_WRITE : PIER_PEER_WRITE,
	};
	int err = pier_mmap_alloc(s->copy->dev, memory_len(s), &cfg,
				  &s->memory);

	if (err)
		return err;
	s->sender.memory = pier_mmap_addr(s->memory);
	s->receiver.memory = s->sender.memory;
	s->sender.slot_size = s->slot_size;
	s->receiver.slot_size = s->slot_size;
	return 0;
}

int pier__copy_session_export(struct pier__copy_session *s)
{
	return pier_dma_export_create(s->memory, s->copy->dev, &s->exported);
}

/* Buffers of slot @i, here and at the client. */
static int take_bufs(struct pier__copy_session *s, uint32_t i)
{
	struct pier__copy_move *move = &s->move[i];
	size_t at = (size_t)i * s->slot_size;
	int err;

	move->session = s;
	err = pier_buf_by_addr(s->copy->inv, s->memory, s->sender.memory + at,
			       s->slot_size, &move->local);
	if (!err)
		err = pier_buf_by_addr(s->copy->inv, s->remote,
				       (char *)pier_mmap_addr(s->remote) + at,
				       s->slot_size, &move->far);
	return err;
}

int pier__copy_session_import(struct pier__copy_session *s,
			      const struct pier__copy_string *desc)
{
	int err = pier_dma_import(s->copy->dev, desc->data, desc->len,
				  &s->remote);

	if (!err && pier_mmap_len(s->remote) < memory_len(s))
		err = pier__fail(-EPROTO, "copy: the client's memory has %zu "
				 "bytes, its slots have %zu",
				 pier_mmap_len(s->remote), memory_len(s));
	for (uint32_t i = 0; !err && i < s->slots; i++)
		err = take_bufs(s, i);
	return err;
}

void pier__copy_session_free(struct pier__copy_session *s)
{
	for (uint32_t i = 0; i < PIER__COPY_SLOTS; i++) {
		pier_buf_put(s->move[i].far);
		pier_buf_put(s->move[i].local);
	}
	pier_mmap_destroy(s->remote);
	pier_dma_export_destroy(s->exported);
	pier_mmap_destroy(s->memory);
}

/* Those at the front that are complete, in the order of their beginning. */
static void settle(struct pier__copy_session *s)
{
	struct pier__copy_slot slot;

	while (s->moves.count) {
		slot = s->moves.slot[s->moves.first];
		if (s->move[slot.index].moving)
			break;
		pier__copy_ring_take(&s->moves, &slot);
		pier__copy_session_moved(s, slot);
	}
}

static void copied(struct pier_task *task, void *arg)
{
	struct pier__copy_move *move = arg;
	struct pier__copy_session *s = move->session;
	int err = pier_task_status(task);

	move->moving = false;
	if (err) {
		err = pier__fail(err, "%s", pier_task_error_text(task));
		pier__copy_session_fail(s, err);
	}
	settle(s);
}

void pier__copy_session_move(struct pier__copy_session *s,
			     struct pier__copy_slot slot)
{
	struct pier__copy_move *move = &s->move[slot.index];
	struct pier_buf *src = s->sends ? move->local : move->far;
	struct pier_buf *dst = s->sends ? move->far : move->local;
	int err;

	if (!s->is_server) {
		pier__copy_session_moved(s, slot);
		return;
	}
	pier_buf_set_data(src, pier_buf_head(src), slot.len);
	pier_buf_set_data(dst, pier_buf_head(dst), 0);
	err = pier_dma_copy(s->copy->dma, src, dst, copied, move);
	if (err) {
		pier__copy_session_fail(s, err);
		return;
	}
	move->moving = true;
	pier__copy_ring_add(&s->moves, slot);
}
