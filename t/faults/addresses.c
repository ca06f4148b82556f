/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "cm/conn_impl.h"
#include "t/lib/netns.h"
#include "t/lib/peer.h"
#include "t/lib/tap.h"

/*
 * Addresses that come and go under connections, in a network namespace of the
 * test's own: whose address is gone ends with its name, all others go on, and
 * nothing has to be opened again.
 */
#define LEN 65536
#define HOME "127.0.0.1"	/* GID 0 of lo */
#define ONE "10.8.0.1"		/* 1 */
#define TWO "10.8.0.2"		/* 2 */

static struct pier_dev *dev;
static struct peer a, b;

static struct pier_rdma_config at_gid(uint32_t index)
{
	return (struct pier_rdma_config) {
		.size = sizeof(struct pier_rdma_config),
		.gid_index = index ? index : PIER_ZERO,
		.connect_timeout_ms = PEER_LIMIT_MS,
	};
}

static bool is_address(const uint8_t gid[16], const char *want)
{
	char text[INET6_ADDRSTRLEN];

	return IS_STR(pier__gid_text(gid, text), want);
}

/* lo with HOME, ONE and TWO, in this order, whatever was there before. */
static bool set_lo(void)
{
	return netns_ip("link set lo up") && netns_ip("addr flush dev lo") &&
	       netns_ip("addr add " HOME "/8 dev lo") &&
	       netns_ip("addr add " ONE "/32 dev lo") &&
	       netns_ip("addr add " TWO "/32 dev lo") &&
	       IS(pier_dev_open("soft_lo", &dev), 0);
}

/* a at GID @i, b at GID @k, on one engine. */
static bool pair_at(uint32_t i, uint32_t k)
{
	struct pier_rdma_config of_a = at_gid(i), of_b = at_gid(k);

	memset(&b, 0, sizeof(b));
	return peer_open(&a, dev, NULL, &of_a, LEN) &&
	       peer_open(&b, dev, a.pe, &of_b, LEN);
}

static void end(void)
{
	peer_unpair(&a, &b);
	pier_dev_close(dev);
	dev = NULL;
}

static bool send_works(void)
{
	int sent = -EINPROGRESS, got = -EINPROGRESS;

	return IS(pier_rdma_receive(b.rdma, NULL, peer_done, &got), 0) &&
	       IS(pier_rdma_send(a.conn, NULL, peer_done, &sent), 0) &&
	       IS(peer_await(&sent), 0) && IS(peer_await(&got), 0);
}

static void check_ended(const struct pier_conn *conn, const char *address)
{
	peer_conn(conn, PIER_CONN_ERROR);
	IS(pier_conn_error(conn), -EADDRNOTAVAIL);
	LIKE(pier_conn_error_text(conn), address);
	IS(pier_ctx_state(pier_rdma_ctx(a.rdma)), PIER_CTX_RUNNING);
}

static void an_idle_connection_ends_with_its_address_and_others_stay(void)
{
	struct pier_conn *home, *lost;

	if (!set_lo() || !pair_at(0, 2) || !peer_join(&a, &b))
		goto out_end;
	home = a.conn;
	/* Both ends at TWO lose theirs; a's other connection has its own. */
	lost = b.conn;
	if (!netns_ip("addr del " TWO "/32 dev lo"))
		goto out_end;
	check_ended(lost, TWO);
	LIKE(pier_conn_error_text(lost), HOME);
	IS(pier_conn_state(home), PIER_CONN_CONNECTED);
out_end:
	end();
}

static void a_connection_in_the_making_ends_and_others_stay(void)
{
	struct pier_rdma_config cfg = at_gid(1);
	struct peer c = { 0 };

	if (!set_lo() || !pair_at(0, 2) || !peer_join(&a, &b))
		goto out_end;
	if (!peer_open(&c, dev, a.pe, &cfg, LEN) || !peer_export(&c) ||
	    !IS(pier_rdma_connect(c.conn, b.desc, b.desc_len), 0))
		goto out_close;
	if (!netns_ip("addr del " ONE "/32 dev lo"))
		goto out_close;
	check_ended(c.conn, ONE);
	send_works();
out_close:
	peer_close(&c);
out_end:
	end();
}

#define IN_FLIGHT 8
#define PART (LEN / IN_FLIGHT)

struct write_stream {
	struct pier_buf *from, *to[IN_FLIGHT];
	int posted, done, failed;
	bool named;		/* the first error names the address */
};

static void written(struct pier_task *task, void *arg)
{
	struct write_stream *stream = arg;

	stream->done++;
	if (!pier_task_status(task) || stream->failed++)
		return;
	stream->named = strstr(pier_last_error(), ONE) &&
			(pier_task_status(task) == -EADDRNOTAVAIL ||
			 pier_task_status(task) == -ECANCELED);
	if (!stream->named)
		tap_note("%d: %s", pier_task_status(task), pier_last_error());
}

/* They complete in order: the place of the oldest is free. */
static void post_writes(struct write_stream *stream)
{
	struct pier_buf *to;

	while (stream->posted - stream->done < IN_FLIGHT && !stream->failed) {
		to = stream->to[stream->posted % IN_FLIGHT];
		pier_buf_reset(to);
		if (!IS(pier_rdma_write(a.conn, stream->from, to, written,
					stream), 0))
			break;
		stream->posted++;
	}
}

static void a_transfer_ends_when_its_address_goes(void)
{
	struct write_stream stream = { 0 };
	long long limit = limit_from_now();
	int i;

	if (!set_lo() || !pair_at(1, 0) || !peer_join(&a, &b))
		goto out_end;
	stream.from = peer_data(&a, 0, PART);
	for (i = 0; i < IN_FLIGHT; i++)
		stream.to[i] = peer_far_tail(&a, i * PART, PART);
	while (tap_holds() && stream.done < 100) {
		post_writes(&stream);
		peer_step(limit);
	}
	IS(stream.failed, 0);
	if (netns_ip("addr del " ONE "/32 dev lo")) {
		while (tap_holds() && !stream.failed) {
			post_writes(&stream);
			peer_step(limit);
		}
		check_ended(a.conn, ONE);
		OK(peer_count(&stream.done, stream.posted));
		OK(stream.named);
	}
	pier_buf_put(stream.from);
	for (i = 0; i < IN_FLIGHT; i++)
		pier_buf_put(stream.to[i]);
out_end:
	end();
}

static void a_new_connection_takes_an_address_that_has_come(void)
{
	struct pier_conn_path path;

	if (!set_lo() || !pair_at(1, 1) || !peer_join(&a, &b))
		goto out_end;
	if (!netns_ip("addr del " ONE "/32 dev lo") ||
	    !netns_ip("addr del " TWO "/32 dev lo"))
		goto out_end;
	check_ended(a.conn, ONE);
	check_ended(b.conn, ONE);
	if (!netns_ip("addr add 10.8.0.7/32 dev lo") || !peer_join(&a, &b))
		goto out_end;
	IS(pier_conn_path(a.conn, &path), 0);
	is_address(path.local_gid, "10.8.0.7");
	send_works();
out_end:
	end();
}

static void an_address_that_was_away_unseen_is_not_missed(void)
{
	if (!set_lo() || !pair_at(2, 2) || !peer_join(&a, &b))
		goto out_end;
	/* Between the two, no engine is progressed. */
	if (!netns_ip("addr del " TWO "/32 dev lo") ||
	    !netns_ip("addr add " TWO "/32 dev lo"))
		goto out_end;
	send_works();
	IS(pier_conn_state(a.conn), PIER_CONN_CONNECTED);
out_end:
	end();
}

static void gids_may_move_up_between_export_and_connect(void)
{
	struct pier_conn_path path;

	if (!set_lo() || !pair_at(2, 2) || !peer_export(&a) ||
	    !peer_export(&b) || !netns_ip("addr del " ONE "/32 dev lo"))
		goto out_end;
	IS(pier_rdma_connect(a.conn, b.desc, b.desc_len), 0);
	IS(pier_rdma_connect(b.conn, a.desc, a.desc_len), 0);
	peer_conn(a.conn, PIER_CONN_CONNECTED);
	peer_conn(b.conn, PIER_CONN_CONNECTED);
	IS(pier_conn_path(a.conn, &path), 0);
	is_address(path.local_gid, TWO);
	send_works();
out_end:
	end();
}

static void an_address_gone_before_connect_is_named(void)
{
	if (!set_lo() || !pair_at(2, 0) || !peer_export(&a) ||
	    !peer_export(&b) || !netns_ip("addr del " TWO "/32 dev lo"))
		goto out_end;
	IS(pier_rdma_connect(a.conn, b.desc, b.desc_len), -EADDRNOTAVAIL);
	LIKE(pier_last_error(), TWO);
out_end:
	end();
}

static void all_addresses_may_go_and_come(void)
{
	if (!set_lo() || !pair_at(0, 0) || !peer_join(&a, &b) ||
	    !netns_ip("addr flush dev lo"))
		goto out_end;
	check_ended(a.conn, HOME);
	check_ended(b.conn, HOME);
	IS(pier_rdma_export(a.rdma, &a.desc, &a.desc_len, &a.conn),
	   -ENETDOWN);
	if (!netns_ip("addr add " HOME "/8 dev lo") || !peer_join(&a, &b))
		goto out_end;
	send_works();
out_end:
	end();
}

static void an_interface_that_is_down_is_named(void)
{
	int status = -EINPROGRESS;
	struct pier_dev *other;

	if (!set_lo() || !pair_at(0, 0) || !peer_join(&a, &b) ||
	    !netns_ip("link set lo down"))
		goto out_end;
	IS(pier_dev_open("soft_lo", &other), -ENETDOWN);
	LIKE(pier_last_error(), "soft_lo port 1 is down: bring lo up");
	IS(pier_rdma_send(a.conn, NULL, peer_done, &status), 0);
	IS(peer_await(&status), -PIER_ERETRY);
	LIKE(pier_last_error(), "; soft_lo port 1 is down: bring lo up");
	peer_conn(a.conn, PIER_CONN_ERROR);
	LIKE(pier_conn_error_text(a.conn), "; soft_lo port 1 is down");
	if (!netns_ip("link set lo up") || !peer_join(&a, &b))
		goto out_end;
	send_works();
out_end:
	end();
}

static bool set_veth(void)
{
	return set_lo() && netns_ip("link add av0 type veth peer name av1") &&
	       netns_ip("link set av0 up") && netns_ip("link set av1 up");
}

/* Open @name as soon as its carrier is there. */
static bool reopen(const char *name)
{
	int i, err = -1;

	pier_dev_close(dev);
	dev = NULL;
	for (i = 0; err && i < 10000; i++) {
		err = pier_dev_open(name, &dev);
		if (err)
			sched_yield();
	}
	return IS(err, 0);
}

static void an_interface_may_go_for_good(void)
{
	int status = -EINPROGRESS;

	if (!set_veth() || !netns_ip("addr add 10.9.0.1/24 dev av0") ||
	    !reopen("soft_av0"))
		goto out_close;
	if (!pair_at(0, 0) || !peer_join(&a, &b) ||
	    !netns_ip("link del av0"))
		goto out_end;
	pier_rdma_send(a.conn, NULL, peer_done, &status);
	peer_await(&status);
	OK(status < 0 && status != -ETIMEDOUT);
	peer_conn(a.conn, PIER_CONN_ERROR);
	peer_conn(b.conn, PIER_CONN_ERROR);
	IS(pier_conn_error(a.conn), -ENODEV);
	IS(pier_conn_error(b.conn), -ENODEV);
	LIKE(pier_conn_error_text(b.conn), "soft_av0 was removed");
	IS(pier_rdma_export(a.rdma, &a.desc, &a.desc_len, &a.conn), -ENODEV);
	LIKE(pier_last_error(), "soft_av0 was removed");
out_end:
	end();
	return;
out_close:
	pier_dev_close(dev);
	dev = NULL;
}

/* Does an export of @peer's offer @address? */
static bool offers(struct peer *peer, const char *address)
{
	char text[INET6_ADDRSTRLEN];
	struct pier__end decoded;
	unsigned int i;
	bool found = false;

	if (!peer_export(peer) ||
	    !IS(pier__end_decode(peer->desc, peer->desc_len, &decoded), 0))
		return false;
	for (i = 0; i < decoded.gid_count; i++)
		found |= !strcmp(pier__gid_text(decoded.gids[i].raw, text),
				 address);
	pier_conn_destroy(peer->conn);
	return found;
}

static void an_address_is_offered_as_long_as_it_is_there(void)
{
	if (!set_lo() || !peer_open(&a, dev, NULL, NULL, LEN))
		goto out_close;
	OK(offers(&a, ONE));
	OK(!offers(&a, "10.8.0.7"));
	if (!netns_ip("addr add 10.8.0.7/32 dev lo"))
		goto out_close;
	OK(offers(&a, "10.8.0.7"));
	netns_ip("addr del " ONE "/32 dev lo");
	OK(!offers(&a, ONE));
out_close:
	peer_close(&a);
	pier_dev_close(dev);
	dev = NULL;
}

static void a_passing_address_is_the_last_to_be_offered(void)
{
	long long limit = limit_from_now();

	if (!set_veth() ||
	    !netns_ip("addr add fd09::5/64 dev av0 nodad valid_lft 1000 "
		      "preferred_lft 0") ||
	    !reopen("soft_av0") || !peer_open(&a, dev, NULL, NULL, LEN))
		goto out_close;
	OK(offers(&a, "fd09::5"));
	if (!netns_ip("addr add fd09::6/64 dev av0 nodad"))
		goto out_close;
	/* the kernel may take it for tentative for a moment all the same */
	while (!offers(&a, "fd09::6") && peer_step(limit))
		;
	OK(!offers(&a, "fd09::5"));
out_close:
	peer_close(&a);
	pier_dev_close(dev);
	dev = NULL;
	netns_ip("link del av0");
}

/* Have the kernel make temporary addresses on av0. */
static bool use_temporary(void)
{
	FILE *file = fopen("/proc/sys/net/ipv6/conf/av0/use_tempaddr", "we");
	bool put;

	if (!file)
		return false;
	put = fputs("2", file) >= 0;
	return !fclose(file) && put;
}

/* The index of the temporary address that goes with fd09::7; its name. */
static uint32_t temporary(char name[INET6_ADDRSTRLEN])
{
	struct pier__port port = { 0 };
	long long limit = limit_from_now();
	int i;

	while (!port.gid_passing && peer_step(limit))
		pier__dev_port(dev, &port);
	for (i = 0; i < (int)port.gid_count; i++)
		if (port.gid_passing & 1u << i)
			break;
	if (!OK(i < (int)port.gid_count))
		return 0;
	pier__gid_text(port.gids[i].raw, name);
	return port.gids[i].index;
}

static void check_temporary(uint32_t index, const char *name)
{
	struct pier_rdma_config cfg = at_gid(index);
	struct peer here = { 0 };

	OK(offers(&a, "fd09::7"));
	OK(!offers(&a, name));
	memset(&b, 0, sizeof(b));
	if (!peer_open(&here, dev, a.pe, &cfg, LEN) ||
	    !peer_open(&b, dev, a.pe, &cfg, LEN) || !peer_join(&here, &b))
		goto out_close;
	IS(pier_conn_state(here.conn), PIER_CONN_CONNECTED);
	netns_ip("addr del %s/64 dev av0", name);
	check_ended(here.conn, name);
	check_ended(b.conn, name);
	OK(offers(&a, "fd09::7"));
out_close:
	peer_close(&b);
	peer_close(&here);
}

static void a_temporary_address_is_used_by_who_asks_for_it(void)
{
	char name[INET6_ADDRSTRLEN];
	uint32_t index;

	if (!set_veth() || !use_temporary() ||
	    !netns_ip("addr add fd09::7/64 dev av0 nodad mngtmpaddr") ||
	    !reopen("soft_av0") || !peer_open(&a, dev, NULL, NULL, LEN)) {
		tap_skip("no temporary addresses here");
		goto out_close;
	}
	index = temporary(name);
	if (index)
		check_temporary(index, name);
out_close:
	peer_close(&a);
	pier_dev_close(dev);
	dev = NULL;
	netns_ip("link del av0");
}

/* It lives for two seconds, of which the kernel takes care. */
static void a_connection_ends_when_its_address_expires(void)
{
	struct pier_rdma_config cfg = at_gid(0);

	if (!set_veth() ||
	    !netns_ip("addr add fd09::5/64 dev av0 nodad valid_lft 2 "
		      "preferred_lft 1") ||
	    !reopen("soft_av0"))
		goto out_close;
	memset(&b, 0, sizeof(b));
	if (peer_open(&a, dev, NULL, &cfg, LEN) &&
	    peer_open(&b, dev, a.pe, &cfg, LEN) && peer_join(&a, &b)) {
		check_ended(a.conn, "fd09::5");
		check_ended(b.conn, "fd09::5");
	}
	peer_close(&b);
	peer_close(&a);
out_close:
	pier_dev_close(dev);
	dev = NULL;
	netns_ip("link del av0");
}

int main(void)
{
	if (!netns_enter())
		return tap_skip_all("no network namespace of its own");
	TEST(an_idle_connection_ends_with_its_address_and_others_stay);
	TEST(a_connection_in_the_making_ends_and_others_stay);
	TEST(a_transfer_ends_when_its_address_goes);
	TEST(a_new_connection_takes_an_address_that_has_come);
	TEST(an_address_that_was_away_unseen_is_not_missed);
	TEST(gids_may_move_up_between_export_and_connect);
	TEST(an_address_gone_before_connect_is_named);
	TEST(all_addresses_may_go_and_come);
	TEST(an_interface_that_is_down_is_named);
	TEST(an_interface_may_go_for_good);
	TEST(an_address_is_offered_as_long_as_it_is_there);
	TEST(a_passing_address_is_the_last_to_be_offered);
	TEST(a_temporary_address_is_used_by_who_asks_for_it);
	TEST(a_connection_ends_when_its_address_expires);
	return tap_done();
}
