/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "bench/procs.h"

void proc_die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(1);
}

static const char *of(enum proc proc, const char *a, const char *b)
{
	return getenv(proc == PROC_A ? a : b);
}

/* The @n'th core that we may use, the last one if there are fewer. */
static int core(int n)
{
	cpu_set_t may;
	int i, last = 0;

	if (sched_getaffinity(0, sizeof(may), &may))
		proc_die("sched_getaffinity: %s", strerror(errno));
	for (i = 0; i < CPU_SETSIZE; i++) {
		if (!CPU_ISSET(i, &may))
			continue;
		last = i;
		if (!n--)
			break;
	}
	return last;
}

/* The files of @names, before what they are called changes. */
static void enter_namespaces(char *names)
{
	char *name, *rest = names;
	int fds[8], n = 0;

	while (n < 8 && (name = strtok_r(rest, ",", &rest))) {
		fds[n] = open(name, O_RDONLY | O_CLOEXEC);
		if (fds[n++] < 0)
			proc_die("cannot open %s: %s", name, strerror(errno));
	}
	while (n--) {
		if (setns(fds[n], 0))
			proc_die("cannot enter a namespace: %s",
				 strerror(errno));
		close(fds[n]);
	}
}

void proc_be(enum proc proc)
{
	const char *ns = of(proc, "BENCH_NS_A", "BENCH_NS_B");
	char *names;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(core(proc), &set);
	if (!getenv("BENCH_FREE") && sched_setaffinity(0, sizeof(set), &set))
		proc_die("sched_setaffinity: %s", strerror(errno));
	if (!ns)
		return;
	names = strdup(ns);
	if (!names)
		proc_die("no memory");
	enter_namespaces(names);
	free(names);
}

int proc_fork(enum proc proc, proc_fn *fn, void *arg)
{
	int fds[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds))
		proc_die("socketpair: %s", strerror(errno));
	fflush(stdout);
	pid = fork();
	if (pid < 0)
		proc_die("fork: %s", strerror(errno));
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(fds[0]);
		proc_be(proc);
		fn(fds[1], arg);
		exit(0);
	}
	close(fds[1]);
	return fds[0];
}

void proc_put(int fd, const void *data, size_t len)
{
	if (send(fd, data, len, MSG_NOSIGNAL) != (ssize_t)len)
		proc_die("the other side is gone");
}

size_t proc_get(int fd, void *data, size_t size)
{
	ssize_t n = recv(fd, data, size, 0);

	if (n <= 0)
		proc_die("the other side is gone");
	return (size_t)n;
}

struct sockaddr_in proc_addr(enum proc proc, uint16_t port)
{
	struct sockaddr_in name = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
	};
	const char *ip = of(proc, "BENCH_IP_A", "BENCH_IP_B");

	if (inet_pton(AF_INET, ip ? ip : "127.0.0.1", &name.sin_addr) != 1)
		proc_die("%s is no IPv4 address", ip);
	return name;
}

int proc_udp(enum proc proc, struct sockaddr_in *ret)
{
	struct sockaddr_in name = proc_addr(proc, 0);
	socklen_t len = sizeof(name);
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&name, sizeof(name)) ||
	    getsockname(fd, (struct sockaddr *)&name, &len))
		proc_die("UDP socket: %s", strerror(errno));
	*ret = name;
	return fd;
}

double proc_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

double proc_median(double *figures, size_t count)
{
	qsort(figures, count, sizeof(*figures), by_value);
	return figures[count / 2];
}

void proc_print(double *figures, size_t count)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < count; i++)
		sum += figures[i];
	printf("%.3f %.3f\n", proc_median(figures, count),
	       sum / (double)count);
}
