/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <pier/pier.h>

#include "t/lib/cable.h"
#include "t/lib/entries.h"
#include "t/lib/tap.h"

#define LIMIT_MS 60000	/* of what the kernel does, emulated at times */

static bool rxe;

static void nap(void)
{
	const struct timespec ts = { .tv_nsec = 10000000 };

	nanosleep(&ts, NULL);
}

bool cable_run(const char *fmt, ...)
{
	char command[512];
	size_t len;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(command, sizeof(command), fmt, ap);
	va_end(ap);
	len = strlen(command);
	snprintf(command + len, sizeof(command) - len, " >&2");
	if (!system(command))
		return true;
	tap_note("%s: failed", command);
	return false;
}

pid_t cable_spawn(const char *command)
{
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid)
		return pid;
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

/* The look is the limit's sake: a removal may wait for us by mistake. */
int cable_reap(pid_t pid)
{
	int status, n;

	for (n = 0; n < LIMIT_MS / 10; n++) {
		if (waitpid(pid, &status, WNOHANG) == pid)
			return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
		nap();
	}
	return -ETIMEDOUT;
}

/* Of what the tests are to run on. */
static bool needs_verbs(void)
{
	const struct pier_devinfo *info;
	struct pier_devlist *list;
	bool verbs = false;

	if (pier_devlist_create(&list))
		return false;
	if (!pier_devlist_find(list, NULL, &info))
		verbs = !strcmp(pier_devinfo_kind(info), "verbs");
	pier_devlist_destroy(list);
	return verbs;
}

const char *cable_enter(void)
{
	if (needs_verbs()) {
		if (access("/run/vm/job", F_OK))
			return "it takes devices away: only for the guest of "
			       "t/vm/run";
		rxe = true;
		return NULL;
	}
	if (unshare(CLONE_NEWNET) && unshare(CLONE_NEWUSER | CLONE_NEWNET))
		return "no network namespace can be made here";
	if (!cable_run("ip link set lo up"))
		return "no ip(8)";
	/* what the default device was is not in this namespace */
	unsetenv("PIER_DEVICE");
	return NULL;
}

bool cable_is_rxe(void)
{
	return rxe;
}

const char *cable_device(int i)
{
	static const char *const names[2][2] = {
		{ "soft_f0", "soft_f1" }, { "rf0", "rf1" },
	};

	return names[rxe][i];
}

/* For Soft-RoCE the kernel is asked, which takes less than a list. */
static bool is_up(int i)
{
	const struct pier_devinfo *info;
	struct pier_devlist *list;
	char line[32] = "";
	bool up = false;
	FILE *file;

	if (rxe) {
		file = fopen(i ? "/sys/class/infiniband/rf1/ports/1/state" :
			     "/sys/class/infiniband/rf0/ports/1/state", "re");
		if (file && fgets(line, sizeof(line), file))
			up = strstr(line, "ACTIVE");
		if (file)
			fclose(file);
	} else if (!pier_devlist_create(&list)) {
		if (!pier_devlist_find(list, cable_device(i), &info))
			up = pier_devinfo_active(info);
		pier_devlist_destroy(list);
	}
	return up;
}

static bool comes_up(int i)
{
	int n;

	for (n = 0; n < LIMIT_MS / 10; n++) {
		if (is_up(i))
			return true;
		nap();
	}
	return OK(is_up(i));
}

bool cable_plug(int i)
{
	return (!rxe || cable_run("rdma link add rf%d type rxe netdev f%d", i,
				  i)) && comes_up(i);
}

pid_t cable_unplug(int i)
{
	char command[64];

	snprintf(command, sizeof(command), rxe ? "rdma link delete rf%d" :
		 "ip link delete f%d", i);
	return cable_spawn(command);
}

/*
 * No IPv6: its addresses are not there the moment they are given.  The other
 * end's hardware address is set: a packet that waits for it holds the queue
 * pair of Soft-RoCE for seconds.
 */
static bool set_up(int i)
{
	return cable_run("sysctl -qw net.ipv6.conf.f%d.disable_ipv6=1", i) &&
	       cable_run("ip addr add 10.9.5.%d/24 dev f%d", i + 1, i) &&
	       cable_run("ip link set f%d up", i) &&
	       cable_run("ip neigh replace 10.9.5.%d dev f%d lladdr "
			 "02:00:00:00:05:%02d nud permanent", 2 - i, i, 2 - i);
}

bool cable_lay(pid_t other)
{
	char where[32] = "";

	if (other && !rxe)
		snprintf(where, sizeof(where), "netns %d", (int)other);
	if (!cable_run("ip link add f0 mtu 9000 address 02:00:00:00:05:01 type "
		       "veth peer name f1 mtu 9000 address 02:00:00:00:05:02 "
		       "%s", where) || !set_up(0))
		return false;
	if (where[0])
		return true;	/* cable_lay_far() does the rest */
	return set_up(1) && cable_plug(0) && cable_plug(1);
}

bool cable_enter_far(void)
{
	return rxe || OK(!unshare(CLONE_NEWNET));
}

bool cable_lay_far(void)
{
	return rxe || (cable_run("ip link set lo up") && set_up(1) &&
		       cable_plug(1));
}

/* Soft-RoCE's packets pass no filter; both ends are here. */
static bool lose_by_netem(int percent)
{
	int i;

	for (i = 0; i < 2; i++)
		if (!cable_run("modprobe -q sch_netem; tc qdisc replace dev "
			       "f%d root netem loss %d%% 2>&1", i, percent))
			return false;
	return true;
}

/* Both directions at this end: f1 is elsewhere. */
static bool lose_by_nft(int percent)
{
	return cable_run("nft 'table netdev lossy; delete table netdev lossy; "
			 "table netdev lossy { "
			 "chain in { type filter hook ingress device f0 "
			 "priority 0; meta l4proto udp numgen random mod 100 "
			 "< %d counter drop; }; "
			 "chain out { type filter hook egress device f0 "
			 "priority 0; meta l4proto udp numgen random mod 100 "
			 "< %d counter drop; }; }'", percent, percent);
}

bool cable_lose(int percent)
{
	return rxe ? lose_by_netem(percent) : lose_by_nft(percent);
}

bool cable_has_lost(void)
{
	return cable_run(rxe ? "tc -s qdisc show dev f0 | grep -q 'dropped "
			       "[1-9]'" :
			       "nft list table netdev lossy | "
			       "grep -q 'packets [1-9]'");
}

void cable_cut(void)
{
	if (rxe) {
		cable_run("rdma link delete rf0 2>&1; rdma link delete rf1 "
			  "2>&1; true");
	}
	cable_run("ip link delete f0 2>&1; true");
}

static void (*body)(void);

static void apart(void)
{
	int status = -1;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (!pid) {
		body();
		fflush(NULL);
		_exit(!tap_holds());
	}
	OK(pid > 0 && waitpid(pid, &status, 0) == pid);
	IS(status, 0);
	cable_cut();
}

void cable_test(const char *name, void (*fn)(void))
{
	body = fn;
	tap_run(name, apart);
}

size_t cable_heap(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;	/* small and large blocks */
}

int cable_fds(void)
{
	return entries_in("/proc/self/fd") - 1;		/* its own */
}
