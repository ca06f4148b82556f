/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "t/lib/copyliar.h"
#include "t/lib/limit.h"
#include "t/lib/tap.h"

#define LEN ((size_t)COPYLIAR_SLOTS * COPYLIAR_SLOT)

static void sent(struct pier_task *task, void *arg)
{
	(void)task;
	(void)arg;
}

static void connected(struct pier_comch_conn *conn, void *arg)
{
	struct copyliar *liar = arg;

	liar->conn = conn;
}

static void disconnected(struct pier_comch_conn *conn, void *arg)
{
	struct copyliar *liar = arg;

	(void)conn;
	liar->conn = NULL;
	liar->ended = true;
}

/* The client's memory, which a server writes. */
static void import(struct copyliar *liar, const struct pier__copy_msg *msg)
{
	if (!liar->remote)
		IS(pier_dma_import(NULL, msg->string[0].data,
				   msg->string[0].len, &liar->remote), 0);
}

static void received(struct pier_comch_conn *conn, const void *data, size_t len,
		     void *arg)
{
	struct copyliar *liar = arg;
	struct pier__copy_msg msg;

	(void)conn;
	liar->version = len > 3 ? ((const uint8_t *)data)[3] : 0;
	if (!IS(pier__copy_msg_decode(data, len, &msg), 0))
		return;
	liar->received[msg.kind]++;
	memcpy(liar->number[msg.kind], msg.number, sizeof(msg.number));
	if (msg.kind == PIER__COPY_HELLO)
		import(liar, &msg);
	if (msg.kind != PIER__COPY_END)
		return;
	memcpy(liar->text, msg.string[1].data, msg.string[1].len);
	liar->text[msg.string[1].len] = '\0';
}

static bool start(struct copyliar *liar)
{
	struct pier_comch_config cfg = {
		.size = sizeof(cfg),
		.max_msg_size = PIER__COPY_MESSAGE,
		.recv_queue = 64,
	};
	struct pier_ctx *ctx = pier_comch_ctx(liar->comch);
	int err;

	IS(pier_comch_configure(liar->comch, &cfg), 0);
	pier_comch_set_callbacks(liar->comch, connected, disconnected,
				 received, NULL);
	pier_ctx_set_user_data(ctx, liar);
	err = pier_ctx_start(ctx, liar->pe);
	return IS(err == -EINPROGRESS ? 0 : err, 0);
}

static bool open_memory(struct copyliar *liar, struct pier_dev *dev)
{
	struct pier_mmap_config cfg = {
		.size = sizeof(cfg),
		.access = PIER_PEER_WRITE,
	};

	memset(liar, 0, sizeof(*liar));
	return copier_open(&liar->copier, dev, NULL, LEN) &&
	       IS(pier_mmap_alloc(dev, LEN, &cfg, &liar->memory), 0) &&
	       IS(pier_dma_export_create(liar->memory, dev, &liar->exported),
		  0) &&
	       IS(pier_pe_create(&liar->pe), 0);
}

bool copyliar_connect(struct copyliar *liar, struct pier_dev *dev,
		      const char *name)
{
	long long limit = limit_from_now();

	if (!open_memory(liar, dev) ||
	    !IS(pier_comch_create_client(dev, name, NULL, &liar->comch), 0) ||
	    !start(liar))
		return false;
	while (!liar->conn && !liar->ended && copyliar_step(liar, limit) &&
	       pier_ctx_state(pier_comch_ctx(liar->comch)) != PIER_CTX_IDLE)
		;
	return liar->conn || liar->ended;
}

bool copyliar_listen(struct copyliar *liar, struct pier_dev *dev,
		     const char *name)
{
	return open_memory(liar, dev) &&
	       IS(pier_comch_create_server(dev, NULL, name, &liar->comch),
		  0) &&
	       start(liar);
}

void copyliar_close(struct copyliar *liar)
{
	pier_comch_destroy(liar->comch);
	pier_mmap_destroy(liar->remote);
	pier_dma_export_destroy(liar->exported);
	pier_mmap_destroy(liar->memory);
	copier_close(&liar->copier);
	pier_pe_destroy(liar->pe);
}

bool copyliar_step(struct copyliar *liar, long long limit)
{
	pier_pe_wait(liar->pe, 20);
	return limit_holds(limit);
}

void copyliar_send_bytes(struct copyliar *liar, const void *data, size_t len)
{
	long long limit = limit_from_now();
	int err = -EAGAIN;

	while (err == -EAGAIN && liar->conn) {
		err = pier_comch_send(liar->conn, data, len, sent, NULL);
		if (err == -EAGAIN && !copyliar_step(liar, limit))
			return;
	}
}

void copyliar_send(struct copyliar *liar, const struct pier__copy_msg *msg)
{
	uint8_t buf[PIER__COPY_MESSAGE];

	copyliar_send_bytes(liar, buf, pier__copy_msg_encode(msg, buf));
}

void copyliar_pass(struct copyliar *liar, enum pier__copy_kind kind,
		   uint64_t first, uint64_t second)
{
	struct pier__copy_msg msg = {
		.kind = kind,
		.number = { first, second },
	};

	copyliar_send(liar, &msg);
}

void copyliar_offset(struct copyliar *liar, uint64_t number, uint64_t bytes)
{
	struct pier__copy_msg msg = {
		.kind = PIER__COPY_OFFSET,
		.number = { number, bytes },
		.string[0] = { "0123456789abcdef", 16 },
	};

	copyliar_send(liar, &msg);
}

bool copyliar_until(struct copyliar *liar, enum pier__copy_kind kind,
		    unsigned int count)
{
	long long limit = limit_from_now();

	while (liar->received[kind] < count && !liar->ended &&
	       copyliar_step(liar, limit))
		;
	return liar->received[kind] >= count;
}

int copyliar_end(struct copyliar *liar)
{
	long long limit = limit_from_now();

	while (!liar->ended && copyliar_step(liar, limit))
		;
	return -(int)liar->number[PIER__COPY_END][PIER__END_ERROR];
}

struct pier__copy_msg copyliar_hello(struct copyliar *liar,
				     enum pier__copy_mode mode, uint32_t flags)
{
	struct pier__copy_msg msg = {
		.kind = PIER__COPY_HELLO,
		.number = { mode, flags, COPYLIAR_SLOTS, COPYLIAR_SLOT, 1,
			    30000 },
	};

	pier_dma_export_desc(liar->exported, &msg.string[0].data,
			     &msg.string[0].len);
	return msg;
}

struct pier__copy_span copyliar_slot(struct copyliar *liar, unsigned int i)
{
	uint8_t *at = liar->remote ? liar->copier.src :
				     pier_mmap_addr(liar->memory);
	struct pier__copy_span span;

	span.at = at + (size_t)i * COPYLIAR_SLOT;
	span.end = span.at + COPYLIAR_SLOT;
	return span;
}

/* The real client has slots of its own size, at the begin of its memory. */
static void write_slot(struct copyliar *liar, unsigned int i, size_t len)
{
	size_t size = liar->number[PIER__COPY_HELLO][PIER__HELLO_SLOT_SIZE];
	char *to = (char *)pier_mmap_addr(liar->remote) + i * size;
	struct pier_buf *dst, *src;

	src = copier_data(&liar->copier, (size_t)i * COPYLIAR_SLOT, len);
	if (!IS(pier_buf_by_addr(liar->copier.inv, liar->remote, to, len,
				 &dst), 0))
		return;
	IS(copier_copy(&liar->copier, src, dst), 0);
	pier_buf_put(src);
	pier_buf_put(dst);
}

void copyliar_fill(struct copyliar *liar, unsigned int i,
		   const struct pier__copy_span *span)
{
	size_t len = (size_t)(span->at - copyliar_slot(liar, i).at);

	if (liar->remote)
		write_slot(liar, i, len);
	copyliar_pass(liar, PIER__COPY_FILLED, i, len);
}

void copyliar_file(struct pier__copy_span *span, const char *path,
		   uint64_t size)
{
	static struct pier__copy_entry entry;

	entry.number++;
	entry.size = size;
	entry.mode = 0644;
	entry.name_len = (uint32_t)strcspn(path, "/");
	strcpy(entry.path, path);
	pier__record_entry(span, PIER__RECORD_FILE, &entry);
}

void copyliar_data(struct pier__copy_span *span, size_t len)
{
	memset(pier__record_data_at(span), 'x', len);
	pier__record_data(span, len);
}
