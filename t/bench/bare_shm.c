/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What shared memory of this machine does at most, with nothing else around it.
 * "line": a word there and back, nanoseconds one way.  The others move messages
 * of 1 MiB, and print 10^9 bytes a second: "copy" within one process, "readv"
 * by process_vm_readv(2) from another one, "ring" by pieces that one process
 * writes and the other reads.  With "cold" each message has other memory, of
 * 256 MiB at either end.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "bench/procs.h"

#define MESSAGE (1u << 20)
#define MEMORY (256u << 20)
#define PIECE_MAX (256u << 10)
#define PIECES 8u

/* What both processes have mapped. */
static struct bare_shared {
	_Alignas(64) _Atomic uint64_t there;
	_Alignas(64) _Atomic uint64_t back;
	_Alignas(64) _Atomic uint64_t ready;
	struct piece {
		_Alignas(64) _Atomic uint64_t written;
		_Alignas(64) char bytes[PIECE_MAX];
	} piece[PIECES];
	_Alignas(64) _Atomic uint64_t taken;
} *shared;

static uint64_t count;
static size_t piece = 32768;
static bool cold;
static char *memory;

static char *at(uint64_t message)
{
	return memory + (cold ? message * MESSAGE % MEMORY : 0);
}

static void *map(size_t len, int flags)
{
	void *ret = mmap(NULL, len, PROT_READ | PROT_WRITE,
			 flags | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (ret == MAP_FAILED)
		proc_die("mmap: %s", strerror(errno));
	return ret;
}

static void own_memory(void)
{
	memory = map(cold ? MEMORY : MESSAGE, MAP_PRIVATE);
	memset(memory, 0x5a, cold ? MEMORY : MESSAGE);
}

static void wait_for(_Atomic uint64_t *word, uint64_t value)
{
	while (atomic_load_explicit(word, memory_order_acquire) < value)
		;
}

static void set(_Atomic uint64_t *word, uint64_t value)
{
	atomic_store_explicit(word, value, memory_order_release);
}

static void answer(int wire, void *arg)
{
	uint64_t i;

	(void)wire;
	(void)arg;
	for (i = 1; i <= count; i++) {
		wait_for(&shared->there, i);
		set(&shared->back, i);
	}
}

static void line(void)
{
	double start;
	uint64_t i;

	proc_fork(PROC_B, answer, NULL);
	proc_be(PROC_A);
	start = proc_now();
	for (i = 1; i <= count; i++) {
		set(&shared->there, i);
		wait_for(&shared->back, i);
	}
	printf("%.1f\n", (proc_now() - start) * 1e3 / (double)count / 2);
}

static void report(double start)
{
	printf("%.2f\n", (double)count * MESSAGE / (proc_now() - start) / 1e3);
}

static void copy(void)
{
	double start;
	char *to;
	uint64_t i;

	proc_be(PROC_A);
	own_memory();
	to = map(cold ? MEMORY : MESSAGE, MAP_SHARED);
	memset(to, 0, cold ? MEMORY : MESSAGE);
	start = proc_now();
	for (i = 0; i < count; i++)
		memcpy(to + (at(i) - memory), at(i), MESSAGE);
	report(start);
}

/* What the reader needs of it. */
struct loan {
	char *memory;
	pid_t pid;
};

/* Has memory, whose address is sent, until the reader has ended. */
static void lend(int wire, void *arg)
{
	struct loan mine = { .pid = getpid() };

	(void)arg;
	own_memory();
	mine.memory = memory;
	proc_put(wire, &mine, sizeof(mine));
	for (;;)
		pause();
}

static void readv_all(void)
{
	struct loan other;
	int wire = proc_fork(PROC_B, lend, NULL);
	struct iovec here, there;
	double start;
	uint64_t i;

	proc_be(PROC_A);
	own_memory();
	proc_get(wire, &other, sizeof(other));
	start = proc_now();
	for (i = 0; i < count; i++) {
		here = (struct iovec){ at(i), MESSAGE };
		there = (struct iovec){ other.memory + (at(i) - memory),
					MESSAGE };
		if (process_vm_readv(other.pid, &here, 1, &there, 1, 0) !=
		    MESSAGE)
			proc_die("process_vm_readv: %s", strerror(errno));
	}
	report(start);
}

static void write_pieces(int wire, void *arg)
{
	uint64_t i, n = 0;
	size_t off;

	(void)wire;
	(void)arg;
	own_memory();
	set(&shared->ready, 1);
	for (i = 0; i < count; i++)
		for (off = 0; off < MESSAGE; off += piece, n++) {
			if (n >= PIECES)
				wait_for(&shared->taken, n + 1 - PIECES);
			memcpy(shared->piece[n % PIECES].bytes, at(i) + off,
			       piece);
			set(&shared->piece[n % PIECES].written, n + 1);
		}
}

static void ring(void)
{
	uint64_t i, n = 0;
	double start;
	size_t off;

	proc_fork(PROC_B, write_pieces, NULL);
	proc_be(PROC_A);
	own_memory();
	wait_for(&shared->ready, 1);
	start = proc_now();
	for (i = 0; i < count; i++)
		for (off = 0; off < MESSAGE; off += piece, n++) {
			wait_for(&shared->piece[n % PIECES].written, n + 1);
			memcpy(at(i) + off, shared->piece[n % PIECES].bytes,
			       piece);
			set(&shared->taken, n + 1);
		}
	report(start);
}

int main(int argc, char *argv[])
{
	count = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
	cold = argc > 3 && !strcmp(argv[3], "cold");
	if (argc > 4)
		piece = (size_t)strtoull(argv[4], NULL, 10);
	if (!count || !piece || piece > PIECE_MAX)
		proc_die("usage: bare_shm line|copy|readv|ring COUNT "
			 "[hot|cold [PIECE]]");
	shared = map(sizeof(*shared), MAP_SHARED);
	if (!strcmp(argv[1], "line"))
		line();
	else if (!strcmp(argv[1], "copy"))
		copy();
	else if (!strcmp(argv[1], "readv"))
		readv_all();
	else
		ring();
	return 0;
}
