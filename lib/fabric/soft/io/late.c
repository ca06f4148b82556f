/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/fail.h"
#include "fabric/soft/io/late.h"

#define BYTES ((size_t)SOFT_DELAYED * SOFT_PACKET_MAX)

/* A packet, and when its time is over. */
struct late_packet {
	uint64_t due;		/* ns */
	struct soft_rx rx;	/* its data are at its place in bytes */
};

struct soft_late {
	uint64_t ns;
	uint32_t head, count;	/* a ring */
	uint32_t taken;		/* of @count: by the last call */
	uint8_t *bytes;		/* owned; untouched pages cost nothing */
	struct late_packet held[SOFT_DELAYED];
};

static uint32_t at(const struct soft_late *late, uint32_t i)
{
	return (late->head + i) % SOFT_DELAYED;
}

int pier__soft_late_create(uint64_t ns, struct soft_late **ret)
{
	struct soft_late *late = calloc(1, sizeof(*late));

	if (!late)
		return pier__fail(-ENOMEM, "no memory for delayed packets");
	late->bytes = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE |
			   MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (late->bytes == MAP_FAILED) {
		free(late);
		return pier__fail(-ENOMEM, "no memory for delayed packets");
	}
	late->ns = ns;
	*ret = late;
	return 0;
}

void pier__soft_late_destroy(struct soft_late *late)
{
	if (!late)
		return;
	munmap(late->bytes, BYTES);
	free(late);
}

bool pier__soft_late_put(struct soft_late *late, const struct soft_rx *rx,
			 uint64_t now)
{
	uint32_t i = at(late, late->count);
	uint8_t *bytes = late->bytes + (size_t)i * SOFT_PACKET_MAX;

	if (rx->len > SOFT_PACKET_MAX || late->count == SOFT_DELAYED)
		return false;
	memcpy(bytes, rx->data, rx->len);
	late->held[i].due = now + late->ns;
	late->held[i].rx = *rx;
	late->held[i].rx.data = bytes;
	late->count++;
	return true;
}

int pier__soft_late_take(struct soft_late *late, struct soft_rx *ret,
			 int max, uint64_t now)
{
	const struct late_packet *held;
	int n = 0;

	late->head = at(late, late->taken);
	late->count -= late->taken;
	while (n < max && (uint32_t)n < late->count) {
		held = &late->held[at(late, (uint32_t)n)];
		if (held->due > now)
			break;
		ret[n++] = held->rx;
	}
	late->taken = (uint32_t)n;
	return n;
}

uint64_t pier__soft_late_due(const struct soft_late *late)
{
	if (late->taken == late->count)
		return 0;
	return late->held[at(late, late->taken)].due;
}
