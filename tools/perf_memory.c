/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "perf.h"

/*
 * The memory of either end: a note; what the peer reads and writes; what this
 * end sends from, or reads into; then the memory of receives, and that into
 * which writes are read back.  To be verified, each message has its own part
 * of these; else all share one.
 */

#define LINE 64		/* parts begin at a multiple of it */

/* The least memory: usual sizes need no -s of the responder. */
#define SHARED_MIN (1 << 20)

uint64_t perf_shared_size(const struct perf *perf)
{
	return perf->opts.size > SHARED_MIN ? perf->opts.size : SHARED_MIN;
}

/* From one message to the next: of the peer's memory, and of this end's. */
static uint64_t far_step(const struct perf *perf)
{
	if (!perf->opts.verify)
		return 0;
	return (perf->opts.size + LINE - 1) / LINE * LINE;
}

static uint64_t near_step(const struct perf *perf)
{
	return perf->opts.verify ?
	       far_step(perf) + (uint64_t)perf->opts.sge * LINE : 0;
}

/* The bytes of @count parts. */
static uint64_t parts(const struct perf *perf, uint64_t step, int count)
{
	if (perf->opts.verify)
		return step * (uint64_t)count;
	return perf_shared_size(perf) + (uint64_t)(perf->opts.sge - 1) * LINE;
}

/* Where the parts begin, behind the note. */
static uint64_t near_begin(const struct perf *perf)
{
	return parts(perf, far_step(perf), perf_requests(perf));
}

static uint64_t recv_begin(const struct perf *perf)
{
	return near_begin(perf) +
	       parts(perf, near_step(perf), perf->send_count);
}

static uint64_t check_begin(const struct perf *perf)
{
	uint64_t begin = recv_begin(perf);

	if (perf->recv_count)
		begin += parts(perf, far_step(perf), perf->recv_count);
	return begin;
}

static char *local_at(const struct perf *perf, uint64_t offset)
{
	return (char *)pier_mmap_addr(perf->local) + PERF_NOTE_SIZE + offset;
}

char *perf_far_at(const struct perf *perf, int i)
{
	uint64_t offset = far_step(perf) * (uint64_t)i;

	if (perf->dma)
		return local_at(perf, offset);
	return (char *)pier_mmap_addr(perf->remote) + PERF_NOTE_SIZE + offset;
}

char *perf_near_at(const struct perf *perf, int i)
{
	return local_at(perf, near_begin(perf) + near_step(perf) * (uint64_t)i);
}

char *perf_recv_at(const struct perf *perf, int i)
{
	return local_at(perf, recv_begin(perf) + far_step(perf) * (uint64_t)i);
}

char *perf_check_at(const struct perf *perf, int i)
{
	return local_at(perf, check_begin(perf) + far_step(perf) * (uint64_t)i);
}

uint64_t perf_recv_size(const struct perf *perf)
{
	return perf->opts.verify ? far_step(perf) : perf_shared_size(perf);
}

size_t perf_far_size(const struct perf *perf)
{
	return PERF_NOTE_SIZE + (perf->opts.verify ? near_begin(perf) :
						     perf->opts.size);
}

int perf_memory_map(struct perf *perf)
{
	struct pier_mmap_config cfg = { .size = sizeof(cfg),
					.access = PIER_LOCAL_WRITE };
	uint64_t len = PERF_NOTE_SIZE + check_begin(perf);
	int err;

	if (perf->opts.verify)
		len += parts(perf, far_step(perf), perf->send_count);
	if (perf->opts.verify && len > PERF_VERIFY_MAX)
		return perf_err(perf, -EMSGSIZE, "--verify: these messages "
				"need %llu bytes of memory, of at most %llu: "
				"fewer of --outstanding, -q or -s",
				(unsigned long long)len,
				(unsigned long long)PERF_VERIFY_MAX);
	if (perf->opts.respond || perf->opts.both)
		cfg.access |= PIER_REMOTE_READ | PIER_REMOTE_WRITE |
			      (perf_is_atomic(perf) ? PIER_REMOTE_ATOMIC : 0);
	err = pier_mmap_alloc(perf->dev, len, &cfg, &perf->local);
	if (err)
		return perf_fail(perf, err);
	memset(local_at(perf, 0), 0x5a, len - PERF_NOTE_SIZE);	/* fault in */
	for (int i = 0; perf->opts.verify && i < perf_requests(perf); i++)
		perf_verify_lay(perf, i, local_at(perf, far_step(perf) *
							(uint64_t)i));
	return 0;
}
