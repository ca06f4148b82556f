/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fabric/soft/shm/mode.h"
#include "t/lib/counted.h"
#include "t/lib/peer.h"
#include "t/lib/tap.h"

/*
 * Connections of two endpoints of one host, by shared memory.  Both are in one
 * process, whose helper thread attaches them to each other.
 */
#define LEN (1u << 20)
#define PART 4096
#define TRIES 64		/* to have the lower port, which is random */

static struct pier_dev *dev;
static struct peer a, b;

static void set_mode(const char *mode)
{
	if (mode)
		setenv("PIER_SHM", mode, 1);
	else
		unsetenv("PIER_SHM");
}

/* Two peers on one engine, connected, with PIER_SHM as @ma and @mb. */
static bool begin_with(const char *ma, const char *mb,
		       const struct pier_rdma_config *cfg)
{
	memset(&b, 0, sizeof(b));
	set_mode(ma);
	if (!IS(pier_dev_open("soft_lo", &dev), 0) ||
	    !peer_open(&a, dev, NULL, cfg, LEN))
		return false;
	set_mode(mb);
	return peer_open(&b, dev, a.pe, cfg, LEN) && peer_join(&a, &b);
}

static bool begin(const char *ma, const char *mb)
{
	return begin_with(ma, mb, NULL);
}

static void end(void)
{
	peer_unpair(&a, &b);
	pier_dev_close(dev);
	dev = NULL;
	set_mode(NULL);
}

/* Until both send by shared memory. */
static bool attached(void)
{
	long long limit = limit_from_now();

	while (!counted_conn(a.conn, "shm_connected") ||
	       !counted_conn(b.conn, "shm_connected"))
		if (!peer_step(limit))
			return false;
	return true;
}

static void write_part(size_t off, size_t len)
{
	struct pier_buf *src = peer_data(&a, off, len);
	struct pier_buf *dst = peer_far_tail(&a, off, len);
	int status = -EINPROGRESS;

	IS(pier_rdma_write(a.conn, src, dst, peer_done, &status), 0);
	IS(peer_await(&status), 0);
	pier_buf_put(src);
	pier_buf_put(dst);
}

static void read_part(size_t off, size_t len)
{
	struct pier_buf *dst = peer_tail(&a, off, len);
	struct pier_buf *src = peer_far_data(&a, off, len);
	int status = -EINPROGRESS;

	IS(pier_rdma_read(a.conn, src, dst, peer_done, &status), 0);
	IS(peer_await(&status), 0);
	pier_buf_put(src);
	pier_buf_put(dst);
}

static void send_part(size_t len)
{
	struct pier_buf *src = peer_data(&a, 0, len);
	struct pier_buf *dst = peer_tail(&b, LEN / 2, len);
	int status = -EINPROGRESS, received = -EINPROGRESS;

	IS(pier_rdma_receive(b.rdma, dst, peer_done, &received), 0);
	IS(pier_rdma_send(a.conn, src, peer_done, &status), 0);
	IS(peer_await(&status), 0);
	IS(peer_await(&received), 0);
	pier_buf_put(src);
	pier_buf_put(dst);
}

static uint64_t by_udp(const struct peer *peer)
{
	return counted_conn(peer->conn, "tx_packets") -
	       counted_conn(peer->conn, "shm_sent");
}

static void two_endpoints_of_a_host_attach(void)
{
	uint64_t sent;

	if (!begin("auto", "auto") || !OK(attached())) {
		end();
		return;
	}
	sent = by_udp(&a) + by_udp(&b);
	write_part(0, PART);
	IS(by_udp(&a) + by_udp(&b), sent);
	OK(counted_conn(a.conn, "shm_sent") > 0);
	OK(counted_conn(b.conn, "shm_sent") > 0);
	end();
}

static void writes_reads_and_sends_move_the_bytes(void)
{
	size_t len;

	if (!begin("auto", "auto") || !OK(attached())) {
		end();
		return;
	}
	for (len = 1; len <= LEN / 2; len = len * 3 + 1) {
		peer_fill(&a, 1);
		peer_fill(&b, 2);
		write_part(0, len);
		OK(peer_holds(&b, 0, len, 1, 0));
		OK(peer_holds(&b, len, LEN - len, 2, len));
		send_part(len);
		OK(peer_holds(&b, LEN / 2, len, 1, 0));
		peer_fill(&b, 3);
		read_part(0, len);
		OK(peer_holds(&a, 0, len, 3, 0));
		OK(peer_holds(&a, len, LEN - len, 1, len));
	}
	end();
}

static void atomics_are_executed_once(void)
{
	struct pier_buf *dst, *result;
	uint64_t *word, old;
	int status, i;

	if (!begin("auto", "auto") || !OK(attached())) {
		end();
		return;
	}
	word = (uint64_t *)b.mem;
	*word = 7;
	dst = peer_far_tail(&a, 0, 8);
	result = peer_tail(&a, 0, 8);
	for (i = 0; i < 100; i++) {
		status = -EINPROGRESS;
		pier_buf_reset(result);
		IS(pier_rdma_fetch_add(a.conn, dst, result, 3, peer_done,
				       &status), 0);
		IS(peer_await(&status), 0);
		memcpy(&old, a.mem, 8);
		IS(old, 7 + 3 * i);
	}
	IS(*word, 307);
	pier_buf_put(dst);
	pier_buf_put(result);
	end();
}

/* Only the engine of one end is driven: the helper has the other. */
static void an_end_that_sleeps_is_woken(void)
{
	struct pier_buf *src, *dst;
	long long limit = limit_from_now();
	int status, i;

	if (!begin("auto", "auto") || !OK(attached())) {
		end();
		return;
	}
	for (i = 0; i < 20; i++) {
		src = peer_data(&a, 0, PART);
		dst = peer_far_tail(&a, 0, PART);
		status = -EINPROGRESS;
		limit_nap_for(limit, 10);	/* both ends sleep */
		IS(pier_rdma_write(a.conn, src, dst, peer_done, &status), 0);
		IS(peer_await(&status), 0);
		pier_buf_put(src);
		pier_buf_put(dst);
	}
	while (!counted_dev(dev, "shm_wakes") && peer_step(limit))
		;
	OK(counted_dev(dev, "shm_wakes") > 0);
	end();
}

static void off_is_the_default(void)
{
	if (begin(NULL, NULL)) {
		write_part(0, LEN);
		IS(counted_conn(a.conn, "shm_connected"), 0);
		IS(counted_conn(a.conn, "shm_sent"), 0);
	}
	end();
}

static void a_configuration_outranks_the_environment(void)
{
	struct pier_rdma_config cfg = {
		.size = sizeof(cfg),
		.shm = PIER_SHM_AUTO,
	};

	if (begin_with("off", "off", &cfg) && OK(attached())) {
		write_part(0, LEN);
		OK(counted_conn(a.conn, "shm_sent") > 0);
	}
	end();
	cfg.shm = PIER_SHM_OFF;
	if (begin_with("auto", "auto", &cfg)) {
		write_part(0, LEN);
		IS(counted_conn(a.conn, "shm_connected"), 0);
		IS(counted_conn(a.conn, "shm_sent"), 0);
	}
	end();
}

/* The end with the lower port connects, and finds that the other is off. */
static void off_at_one_end_is_udp_and_counted(void)
{
	uint64_t absent = 0;
	int i;

	for (i = 0; i < TRIES && !absent; i++) {
		if (begin("auto", "off")) {
			peer_fill(&a, 1);
			write_part(0, LEN);
			OK(peer_holds(&b, 0, LEN, 1, 0));
			IS(counted_conn(a.conn, "shm_sent"), 0);
			absent = counted_dev(dev, "shm_absent");
		}
		end();
	}
	OK(absent > 0);
}

/* Both ends of a connection are of one context, and so of one endpoint. */
static void connect_to_itself(const char *mode, struct peer *second)
{
	memset(&b, 0, sizeof(b));
	set_mode(mode);
	IS(pier_dev_open("soft_lo", &dev), 0);
	if (!peer_open(&a, dev, NULL, NULL, LEN) || !peer_export(&a))
		return;
	*second = a;
	second->conn = NULL;
	if (peer_export(second)) {
		IS(pier_rdma_connect(a.conn, second->desc, second->desc_len),
		   0);
		IS(pier_rdma_connect(second->conn, a.desc, a.desc_len), 0);
		OK(peer_conn(a.conn, PIER_CONN_CONNECTED));
		OK(peer_conn(second->conn, PIER_CONN_CONNECTED));
	}
}

static void an_endpoint_attaches_to_itself(void)
{
	struct peer second = { 0 };
	long long limit = limit_from_now();
	struct pier_buf *src, *dst;
	int status, received, i;
	uint64_t dropped;

	connect_to_itself("require", &second);
	while (!counted_conn(a.conn, "shm_connected") && peer_step(limit))
		;
	dropped = by_udp(&a);	/* before it had a link */
	for (i = 0; i < 20 && tap_holds(); i++) {
		peer_fill(&a, i);
		src = peer_data(&a, 0, LEN / 2);
		dst = peer_tail(&a, LEN / 2, LEN / 2);
		status = received = -EINPROGRESS;
		if (i % 2)
			limit_nap_for(limit, 10);	/* it sleeps */
		IS(pier_rdma_receive(a.rdma, dst, peer_done, &received), 0);
		IS(pier_rdma_send(a.conn, src, peer_done, &status), 0);
		IS(peer_await(&status), 0);
		IS(peer_await(&received), 0);
		OK(peer_holds(&a, LEN / 2, LEN / 2, i, 0));
		pier_buf_put(src);
		pier_buf_put(dst);
	}
	IS(by_udp(&a), dropped);
	pier_conn_destroy(second.conn);
	end();
}

static void require_sends_nothing_by_udp(void)
{
	struct pier_rdma_config cfg = {
		.size = sizeof(cfg),
		.ack_timeout = 10,
	};
	long long limit = limit_from_now();

	memset(&b, 0, sizeof(b));
	set_mode("require");
	IS(pier_dev_open("soft_lo", &dev), 0);
	if (!peer_open(&a, dev, NULL, &cfg, LEN) || !peer_export(&a))
		goto out_end;
	set_mode("off");
	if (!peer_open(&b, dev, a.pe, &cfg, LEN) || !peer_export(&b))
		goto out_end;
	IS(pier_rdma_connect(a.conn, b.desc, b.desc_len), 0);
	IS(pier_rdma_connect(b.conn, a.desc, a.desc_len), 0);
	while (counted_conn(a.conn, "timeouts") < 3 && peer_step(limit))
		;
	IS(counted_conn(b.conn, "rx_packets"), 0);
	OK(pier_conn_state(a.conn) != PIER_CONN_CONNECTED);
out_end:
	end();
}

static void require_is_enough_at_one_end(void)
{
	if (begin("require", "auto") && OK(attached())) {
		write_part(0, LEN);
		OK(counted_conn(a.conn, "shm_sent") > 0);
	}
	end();
}

static void a_word_that_is_none_is_refused(void)
{
	enum pier_shm mode = PIER_SHM_AUTO;

	set_mode("on");
	IS(pier__soft_shm_mode(0, &mode), -EINVAL);
	IS_STR(pier_last_error(),
	       "PIER_SHM is \"on\": off, auto or require");
	set_mode("");
	IS(pier__soft_shm_mode(0, &mode), 0);
	IS(mode, PIER_SHM_OFF);
	set_mode(NULL);
}

static void a_capture_and_faults_imply_off(void)
{
	static const char *const names[] = { "PIER_PCAP", "PIER_FAULTS" };
	enum pier_shm mode;
	size_t i;

	set_mode("require");
	for (i = 0; i < 2; i++) {
		setenv(names[i], "x", 1);
		mode = PIER_SHM_AUTO;
		IS(pier__soft_shm_mode(0, &mode), 0);
		IS(mode, PIER_SHM_OFF);
		mode = PIER_SHM_AUTO;
		IS(pier__soft_shm_mode(PIER_SHM_REQUIRE, &mode), 0);
		IS(mode, PIER_SHM_OFF);
		unsetenv(names[i]);
	}
	IS(pier__soft_shm_mode(0, &mode), 0);
	IS(mode, PIER_SHM_REQUIRE);
	set_mode(NULL);
}

/* Close @b, until @a's end of the link has ended, and open it again. */
static bool begin_again(void)
{
	uint64_t ended = counted_dev(dev, "shm_ended");
	long long limit = limit_from_now();

	IS(pier_conn_disconnect(a.conn), 0);
	peer_conn(b.conn, PIER_CONN_RESET);
	pier_conn_destroy(a.conn);
	a.conn = NULL;
	pier_mmap_destroy(a.remote);
	a.remote = NULL;
	peer_close(&b);
	while (counted_dev(dev, "shm_ended") == ended && peer_step(limit))
		;
	memset(&b, 0, sizeof(b));
	return peer_open(&b, dev, a.pe, NULL, LEN) && peer_join(&a, &b) &&
	       OK(attached());
}

static void an_end_that_is_closed_ends_its_link_only(void)
{
	int i;

	if (!begin("auto", "auto") || !OK(attached())) {
		end();
		return;
	}
	set_mode("auto");
	for (i = 1; i <= 3; i++) {
		if (!begin_again())
			break;
		write_part(0, LEN);
	}
	end();
}

/* It holds all that the link had. */
static void a_child_that_stays_keeps_no_link(void)
{
	pid_t pid;
	int status;

	if (!begin("auto", "auto") || !OK(attached())) {
		end();
		return;
	}
	pid = fork();
	if (!pid) {
		pause();
		_exit(0);
	}
	set_mode("auto");
	if (begin_again())
		write_part(0, LEN);
	kill(pid, SIGKILL);
	IS(waitpid(pid, &status, 0), pid);
	end();
}

static void a_child_that_ends_disturbs_no_link(void)
{
	uint64_t ended;
	pid_t pid;
	int status;

	if (!begin("auto", "auto") || !OK(attached())) {
		end();
		return;
	}
	ended = counted_dev(dev, "shm_ended");
	pid = fork();
	if (!pid)
		_exit(0);
	IS(waitpid(pid, &status, 0), pid);
	peer_fill(&a, 1);
	write_part(0, LEN);
	OK(peer_holds(&b, 0, LEN, 1, 0));
	IS(counted_dev(dev, "shm_ended"), ended);
	end();
}

int main(void)
{
	TEST(two_endpoints_of_a_host_attach);
	TEST(writes_reads_and_sends_move_the_bytes);
	TEST(atomics_are_executed_once);
	TEST(an_end_that_sleeps_is_woken);
	TEST(off_is_the_default);
	TEST(a_configuration_outranks_the_environment);
	TEST(off_at_one_end_is_udp_and_counted);
	TEST(require_sends_nothing_by_udp);
	TEST(require_is_enough_at_one_end);
	TEST(an_endpoint_attaches_to_itself);
	TEST(a_word_that_is_none_is_refused);
	TEST(a_capture_and_faults_imply_off);
	TEST(an_end_that_is_closed_ends_its_link_only);
	TEST(a_child_that_ends_disturbs_no_link);
	TEST(a_child_that_stays_keeps_no_link);
	return tap_done();
}
