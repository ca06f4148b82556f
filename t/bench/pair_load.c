/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages of another library between two processes:
 *
 *	lat SIZE COUNT	ping-pong: "MEDIAN AVERAGE" in us, one way
 *	bw SIZE COUNT	one after the other until the last one is received and
 *			answered: 10^9 bytes a second
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/pair_lib.h"
#include "bench/procs.h"

static size_t size, count;

/* A tenth more go first. */
static size_t warmup(void)
{
	return count / 10 + 1;
}

static void echo(int wire, void *arg)
{
	(void)arg;
	pair_lib.listen(wire);
	for (size_t i = 0; i < warmup() + count; i++)
		pair_lib.send(pair_lib.receive());
	pair_lib.receive();
}

static void sink(int wire, void *arg)
{
	(void)arg;
	pair_lib.listen(wire);
	for (size_t i = 0; i < warmup() + count; i++) {
		pair_lib.receive();
		if (i + 1 == warmup())
			pair_lib.send(1);
	}
	pair_lib.send(1);
	pair_lib.receive();
}

static void begin(proc_fn *fn)
{
	int wire = proc_fork(PROC_B, fn, NULL);

	proc_be(PROC_A);
	pair_lib.dial(wire);
}

static void lat(void)
{
	double *laps = calloc(count, sizeof(*laps)), start, end;

	if (!laps)
		proc_die("no memory");
	begin(echo);
	start = proc_now();
	for (size_t i = 0; i < warmup() + count; i++) {
		pair_lib.send(size);
		pair_lib.receive();
		end = proc_now();
		if (i >= warmup())
			laps[i - warmup()] = (end - start) / 2;
		start = end;
	}
	proc_print(laps, count);
}

static void send_all(size_t n)
{
	while (n--)
		pair_lib.send(size);
	pair_lib.receive();
}

static void bw(void)
{
	double start;

	begin(sink);
	send_all(warmup());
	start = proc_now();
	send_all(count);
	printf("%.4f\n", 1e-3 * (double)(size * count) / (proc_now() - start));
}

int main(int argc, char *argv[])
{
	if (argc != 4)
		proc_die("usage: see pair_load.c");
	size = strtoul(argv[2], NULL, 10);
	count = strtoul(argv[3], NULL, 10);
	/* A message of 1 MiB is not to have new pages each time. */
	mallopt(M_MMAP_THRESHOLD, 1 << 30);
	mallopt(M_TRIM_THRESHOLD, 1 << 30);
	if (!strcmp(argv[1], "lat"))
		lat();
	else
		bw();
	fflush(stdout);
	_exit(0);
}
