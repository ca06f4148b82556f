/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include <pier/desc.h>
#include <pier/dma_export.h>
#include <pier/mmap.h>
#include <pier/sync_event.h>

#include "cm/conn_impl.h"
#include "core/crc.h"
#include "core/wire.h"
#include "ops/origin.h"
#include "ops/sync_event_impl.h"
#include "t/fuzz/fuzz.h"

/*
 * Descriptors.  Input: a byte; the descriptor.  The byte selects whether its
 * length and check sum are made right first, as a forger would.
 */
#define LENGTH_AT 8
#define CRC_AT 12

static void put32(uint8_t *p, uint32_t v)
{
	int i;

	for (i = 0; i < 4; i++)
		p[i] = (uint8_t)(v >> (24 - 8 * i));
}

static void seal(uint8_t *bytes, size_t len)
{
	uint32_t crc;

	if (len < PIER__WIRE_HEAD)
		return;
	put32(bytes + LENGTH_AT, (uint32_t)(len - PIER__WIRE_HEAD));
	crc = pier__crc32(0, bytes, CRC_AT);
	crc = pier__crc32(crc, bytes + PIER__WIRE_HEAD,
			  len - PIER__WIRE_HEAD);
	put32(bytes + CRC_AT, crc);
}

/* The decoded descriptor of an end is encoded to the same bytes. */
static void end_again(const struct pier__end *end)
{
	uint8_t bytes[PIER_DESC_MAX];
	struct pier__end same;
	int len = pier__end_encode(end, bytes, sizeof(bytes));

	MUST(len > 0);
	MUST(pier__end_decode(bytes, (size_t)len, &same) == 0);
	MUST(same.nonce == end->nonce && same.qpn == end->qpn);
	MUST(same.gid_count == end->gid_count);
	MUST(end->gid_count <= PIER__GIDS_MAX);
	MUST(end->mtu >= 256 && end->mtu <= 4096);
}

static void print(const uint8_t *bytes, size_t len)
{
	char small[16], text[8192];
	int want = pier_desc_print(bytes, len, text, sizeof(text));

	if (want < 0)
		return;
	MUST(strlen(text) == (size_t)want);
	MUST(pier_desc_print(bytes, len, small, sizeof(small)) == want);
	MUST(!memcmp(small, text, sizeof(small) - 1) && !small[15]);
	MUST(pier_desc_print(bytes, len, NULL, 0) == want);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pier_sync_event *event;
	struct pier_mmap *mmap;
	struct pier__end end;
	uint8_t *bytes;

	if (!size || size > PIER_DESC_MAX)
		return 0;
	size--;
	bytes = malloc(size + !size);	/* a byte too far is noticed */
	if (!bytes)
		return 0;
	memcpy(bytes, data + 1, size);
	if (data[0] & 1)
		seal(bytes, size);
	if (!pier__end_decode(bytes, size, &end))
		end_again(&end);
	if (!pier_mmap_create_from_export(NULL, bytes, size, &mmap)) {
		MUST(pier_mmap_len(mmap) > 0);
		pier_mmap_destroy(mmap);
	}
	if (!pier_dma_import(NULL, bytes, size, &mmap)) {
		MUST(pier_mmap_len(mmap) > 0);
		pier_mmap_destroy(mmap);
	}
	if (!pier_sync_event_create_from_export(NULL, bytes, size, &event)) {
		MUST(pier_sync_event_start(event) == 0);
		pier_sync_event_destroy(event);
	}
	if (!pier__origin_import(NULL, bytes, size, PIER__WIRE_SYNC_EXPORT,
				 PIER__WIRE_SYNC_EVENT, &mmap)) {
		MUST(pier_mmap_len(mmap) > 0);
		pier__sync_check_word(mmap);
		pier_mmap_destroy(mmap);
	}
	if (data[0] & 2)
		print(bytes, size);
	free(bytes);
	return 0;
}
