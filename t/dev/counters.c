/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "t/lib/pair.h"
#include "t/lib/peer.h"
#include "t/lib/tap.h"

/* What devices and connections have counted, here and in other processes. */
#define LEN (256u << 10)

static struct pier_dev *dev;
static struct peer a, b;

static bool begin(void)
{
	return IS(pier_dev_open("soft_lo", &dev), 0) &&
	       peer_pair(&a, &b, dev, NULL, LEN);
}

static void end(void)
{
	peer_unpair(&a, &b);
	pier_dev_close(dev);
	dev = NULL;
}

static uint64_t of(const struct pier_counters *counters, const char *name)
{
	uint64_t value = 0;

	if (!IS(pier_counters_find(counters, name, &value), 0))
		tap_note("%s", name);
	return value;
}

static struct pier_counters of_conn(const struct peer *peer)
{
	struct pier_counters counters = { .size = sizeof(counters) };

	IS(pier_conn_counters(peer->conn, &counters), 0);
	return counters;
}

/* Has all that either side sent arrived at the other, as far as is counted? */
static bool settled(void)
{
	struct pier_counters one = { .size = sizeof(one) }, two = one;

	if (pier_conn_counters(a.conn, &one) == -EOPNOTSUPP)
		return true;	/* this kind of device counts by port only */
	IS(pier_conn_counters(b.conn, &two), 0);
	return of(&one, "tx_packets") == of(&two, "rx_packets") &&
	       of(&two, "tx_packets") == of(&one, "rx_packets");
}

/* Writes all of a's memory to b's. */
static void write_all(void)
{
	struct pier_buf *src = peer_data(&a, 0, LEN);
	struct pier_buf *dst = peer_far_tail(&a, 0, LEN);
	long long limit = limit_from_now();
	int status = -EINPROGRESS;

	IS(pier_rdma_write(a.conn, src, dst, peer_done, &status), 0);
	IS(peer_await(&status), 0);
	pier_buf_put(src);
	pier_buf_put(dst);
	while (!settled() && peer_step(limit))
		;
}

static struct pier_counters of_dev(void)
{
	struct pier_counters counters = { .size = sizeof(counters) };

	IS(pier_dev_counters(dev, &counters), 0);
	return counters;
}

static void what_one_end_sends_the_other_receives(void)
{
	struct pier_counters one, two;

	if (!begin())
		return;
	write_all();
	one = of_conn(&a);
	two = of_conn(&b);
	IS(of(&one, "tx_packets"), of(&two, "rx_packets"));
	IS(of(&one, "tx_bytes"), of(&two, "rx_bytes"));
	IS(of(&one, "rx_packets"), of(&two, "tx_packets"));
	IS(of(&one, "rx_bytes"), of(&two, "tx_bytes"));
	OK(of(&one, "tx_bytes") > LEN);
	OK(of(&two, "tx_bytes") < LEN / 4);
	IS(of(&one, "bad_icrc") + of(&two, "bad_icrc"), 0);
	OK(of(&one, "window") > 4096);
	OK(of(&one, "rtt_ns") > 0);
	end();
}

static uint64_t sent_by_both(void)
{
	struct pier_counters one = of_conn(&a), two = of_conn(&b);

	return of(&one, "tx_packets") + of(&two, "tx_packets");
}

static void a_device_counts_its_connections_and_those_that_ended(void)
{
	struct pier_counters before, now;
	uint64_t window, sent;

	if (!begin())
		return;
	before = of_dev();
	sent = sent_by_both();
	write_all();
	now = of_dev();
	IS(of(&now, "tx_packets") - of(&before, "tx_packets"),
	   sent_by_both() - sent);
	IS(pier_counters_find(&now, "window", &window), -ENOENT);
	end();
	if (!IS(pier_dev_open("soft_lo", &dev), 0))
		return;
	before = of_dev();
	OK(of(&before, "tx_packets") >= of(&now, "tx_packets"));
	pier_dev_close(dev);
	if (!begin())
		return;
	now = of_dev();
	OK(of(&now, "tx_packets") > of(&before, "tx_packets"));
	end();
}

static void a_new_connection_counts_from_zero(void)
{
	struct pier_counters first, second;

	if (!begin())
		return;
	write_all();
	first = of_conn(&a);
	end();
	if (!begin())
		return;
	second = of_conn(&a);
	OK(of(&second, "tx_bytes") < of(&first, "tx_bytes") / 4);
	end();
}

static void as_much_is_reported_as_fits(void)
{
	struct pier_counters all = { .size = sizeof(all) }, some = { 0 };
	struct pier_counters untouched = { .count = 77 };
	uint64_t value = 5;

	if (!begin())
		return;
	all = of_dev();
	some.size = offsetof(struct pier_counters, counter[3]);
	strcpy(some.counter[3].name, "mine");
	IS(pier_dev_counters(dev, &some), 0);
	IS(some.count, 3);
	IS_STR(some.counter[2].name, all.counter[2].name);
	IS_STR(some.counter[3].name, "mine");
	IS(pier_dev_counters(dev, &untouched), -EINVAL);
	LIKE(pier_last_error(), "size 0");
	IS(untouched.count, 77);
	IS(pier_counters_find(&all, "no_such", &value), -ENOENT);
	LIKE(pier_last_error(), "no_such");
	IS(value, 5);
	end();
}

static void a_closed_connection_has_nothing_to_tell(void)
{
	struct pier_counters counters = { .size = sizeof(counters) };

	if (!begin())
		return;
	pier_conn_disconnect(a.conn);
	OK(peer_conn(a.conn, PIER_CONN_RESET));
	IS(pier_conn_counters(a.conn, &counters), -ENOTCONN);
	end();
}

/* Processes show their counters in /dev/shm; not all containers have it. */
static bool can_show(void)
{
	if (!access("/dev/shm", R_OK | W_OK | X_OK))
		return true;
	tap_skip("/dev/shm is not there");
	return false;
}

/* The path of the page of @pid, or "": it has none. */
static const char *values_of(int pid)
{
	static char path[256];
	glob_t found;

	snprintf(path, sizeof(path), "/dev/shm/pier.%u.%d.*",
		 (unsigned int)geteuid(), pid);
	if (glob(path, 0, NULL, &found))
		return "";
	IS(found.gl_pathc, 1);
	snprintf(path, sizeof(path), "%s", found.gl_pathv[0]);
	globfree(&found);
	return path;
}

/* Has a pair, writes, reports how much was sent, and waits for the end. */
static int watched(struct pair *pair, void *arg)
{
	struct pier_counters one;
	uint64_t sent;
	char word[8];

	(void)arg;
	if (!begin())
		return 1;
	write_all();
	one = of_conn(&a);
	sent = of(&one, "tx_bytes");
	OK(pair_send(pair, &sent, sizeof(sent)));
	OK(pair_recv(pair, word, sizeof(word)) == 2);
	end();
	return 0;
}

static void look_at(int pid, uint64_t sent)
{
	struct pier_counters counters = { .size = sizeof(counters) };
	const struct pier_counted *what, *x, *y;
	struct pier_counterlist *list;
	struct stat ns;

	if (!IS(pier_counterlist_create(pid, &list), 0))
		return;
	IS(pier_counterlist_count(list), 3);
	what = pier_counterlist_get(list, 0);
	x = pier_counterlist_get(list, 1);
	y = pier_counterlist_get(list, 2);
	OK(!pier_counterlist_get(list, 3));
	IS(pier_counterlist_counters(list, 3, &counters), -ERANGE);
	if (OK(what && x && y)) {
		IS(what->pid, pid);
		LIKE(what->program, "counters.t");
		IS_STR(what->device, "soft_lo");
		IS(what->qpn, 0);
		IS(x->pid, pid);
		OK(!stat("/proc/self/ns/pid", &ns));
		IS(x->pid_namespace, ns.st_ino);
		OK(x->start && x->start == what->start);
		OK(x->qpn && x->qpn == y->peer_qpn);
		OK(y->qpn && y->qpn == x->peer_qpn);
		OK(x->local_port && x->local_port == y->peer_port);
		OK(!memcmp(x->local_gid, y->peer_gid, 16));
		IS(pier_counterlist_counters(list, 1, &counters), 0);
		IS(of(&counters, "tx_bytes"), sent);
		IS(pier_counterlist_counters(list, 0, &counters), 0);
		OK(of(&counters, "tx_bytes") > sent);
	}
	pier_counterlist_destroy(list);
}

static void another_process_can_be_watched_until_it_ends(void)
{
	struct pier_counterlist *list = NULL;
	struct pair pair;
	struct stat st;
	uint64_t sent;

	if (!can_show())
		return;
	pair_start(&pair, watched, NULL);
	if (IS(pair_recv(&pair, &sent, sizeof(sent)), sizeof(sent))) {
		look_at(pair.pid, sent);
		OK(!stat(values_of(pair.pid), &st));
		IS(st.st_mode & 07777, 0600);
		pair_send(&pair, "ok", 2);
	}
	IS(pair_wait(&pair), 0);
	IS(pier_counterlist_create(pair.pid, &list), -ENOENT);
	LIKE(pier_last_error(), "does not run");
	OK(!list);
	IS_STR(values_of(pair.pid), "");
}

static bool list_has(int pid)
{
	struct pier_counterlist *list;
	const struct pier_counted *what;
	bool has = false;
	size_t i;

	if (!IS(pier_counterlist_create(0, &list), 0))
		return false;
	for (i = 0; (what = pier_counterlist_get(list, i)); i++)
		has |= what->pid == pid;
	pier_counterlist_destroy(list);
	return has;
}

static void what_a_killed_process_leaves_is_removed(void)
{
	struct pair pair;
	uint64_t sent;

	if (!can_show())
		return;
	pair_start(&pair, watched, NULL);
	if (IS(pair_recv(&pair, &sent, sizeof(sent)), sizeof(sent)))
		OK(list_has(pair.pid));
	OK(*values_of(pair.pid));
	pair_kill(&pair);
	OK(*values_of(pair.pid));
	OK(!list_has(pair.pid));
	IS_STR(values_of(pair.pid), "");
}

static void a_child_does_not_touch_its_parents_counters_file(void)
{
	uint64_t before, after;
	struct pier_counters counters;
	int status = -1;
	pid_t pid;

	if (!can_show() || !begin())
		return;
	counters = of_conn(&a);
	before = of(&counters, "tx_bytes");
	fflush(NULL);
	pid = fork();
	if (!pid) {
		pier_conn_disconnect(a.conn);
		exit(0);	/* with all that is done at exit */
	}
	waitpid(pid, &status, 0);
	IS(status, 0);
	OK(*values_of(getpid()));
	OK(list_has(getpid()));
	OK(!list_has(pid));
	counters = of_conn(&a);
	after = of(&counters, "tx_bytes");
	OK(after >= before);
	end();
	OK(*values_of(getpid()));
}

/* The default device, of whatever kind. */
static void every_device_tells_what_it_counts(void)
{
	struct pier_counters counters = { .size = sizeof(counters) };
	uint64_t before = 0, after = 0;
	const char *name;
	long long limit;
	bool soft;

	if (!IS(pier_dev_open(NULL, &dev), 0) ||
	    !peer_pair(&a, &b, dev, NULL, LEN))
		return;
	soft = !strcmp(pier_devinfo_kind(pier_dev_info(dev)), "soft");
	name = soft ? "tx_packets" : "sent_pkts";
	counters = of_dev();
	if (pier_counters_find(&counters, name, &before))
		tap_note("%u counters, none is %s", counters.count, name);
	write_all();
	limit = limit_from_now();
	do	/* the kernel keeps what it has read for some time */
		counters = of_dev();
	while (!pier_counters_find(&counters, name, &after) &&
	       after <= before && peer_step(limit));
	OK(counters.count > 0);
	OK(after > before);
	IS(pier_conn_counters(a.conn, &counters), soft ? 0 : -EOPNOTSUPP);
	if (!soft)
		LIKE(pier_last_error(), "by port");
	end();
}

/* How many events this process has recorded; few enough that all are there. */
static int recorded(void)
{
	struct pier_counterlist *list;
	struct pier_conn_event event;
	int count = 0;

	if (!IS(pier_counterlist_create(getpid(), &list), 0))
		return -1;
	for (size_t i = 0; i < pier_counterlist_count(list); i++)
		for (size_t n = 0;
		     pier_counterlist_event(list, i, n, &event) > 0; n++)
			count++;
	pier_counterlist_destroy(list);
	return count;
}

/* What a pair of contexts adds that are configured so. */
static int added_with(uint32_t events)
{
	struct pier_rdma_config cfg = {
		.size = sizeof(cfg), .events = events,
	};
	int before = recorded();

	if (!peer_pair(&a, &b, dev, &cfg, LEN))
		return -1;
	peer_unpair(&a, &b);
	return recorded() - before;
}

static void a_context_decides_whether_it_records(void)
{
	if (!IS(pier_dev_open("soft_lo", &dev), 0))
		return;
	OK(added_with(0) > 0);
	IS(added_with(PIER_EVENTS_OFF), 0);
	setenv("PIER_EVENTS", "off", 1);
	IS(added_with(0), 0);
	OK(added_with(PIER_EVENTS_ON) > 0);
	unsetenv("PIER_EVENTS");
	pier_dev_close(dev);
}

int main(void)
{
	/* Processes first: this one has no device yet. */
	TEST(another_process_can_be_watched_until_it_ends);
	TEST(what_a_killed_process_leaves_is_removed);
	TEST(every_device_tells_what_it_counts);
	TEST(what_one_end_sends_the_other_receives);
	TEST(a_device_counts_its_connections_and_those_that_ended);
	TEST(a_new_connection_counts_from_zero);
	TEST(as_much_is_reported_as_fits);
	TEST(a_closed_connection_has_nothing_to_tell);
	TEST(a_context_decides_whether_it_records);
	TEST(a_child_does_not_touch_its_parents_counters_file);
	return tap_done();
}
