/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <pier/error.h>

#include "cm/addr.h"
#include "core/sockaddr.h"
#include "t/lib/tap.h"

/* Which addresses are offered, and which pair two ends choose. */

static void set_gid(uint8_t raw[16], const char *text)
{
	memset(raw, 0, 16);
	if (inet_pton(AF_INET, text, raw + 12) == 1) {
		raw[10] = raw[11] = 0xff;
		return;
	}
	OK(inet_pton(AF_INET6, text, raw) == 1);
}

/* "10.0.0.1/24": one of an end's addresses. */
static void add_offer(struct pier__gid_offer *offers, unsigned int *n,
		      const char *text)
{
	char addr[64];
	const char *slash = strchr(text, '/');
	size_t len = slash ? (size_t)(slash - text) : strlen(text);

	memcpy(addr, text, len);
	addr[len] = '\0';
	memset(&offers[*n], 0, sizeof(offers[*n]));
	set_gid(offers[*n].raw, addr);
	offers[*n].type = PIER_GID_ROCE_V2;
	offers[*n].prefix = slash ? (uint8_t)atoi(slash + 1) : 0;
	offers[*n].index = *n;
	++*n;
}

struct ends {
	struct pier__gid_offer a[8], b[8];
	unsigned int n_a, n_b;
};

static struct ends make(const char *const *a, const char *const *b)
{
	struct ends ends = { .n_a = 0 };

	while (*a)
		add_offer(ends.a, &ends.n_a, *a++);
	while (*b)
		add_offer(ends.b, &ends.n_b, *b++);
	return ends;
}

/* Both ends choose @want_a of @a and @want_b of @b, whatever the order. */
static void check(const char *const *a, const char *const *b,
		  unsigned int want_a, unsigned int want_b)
{
	struct ends e = make(a, b);
	unsigned int i = 99, j = 99, k = 99, l = 99;

	IS(pier__gid_choose(e.a, e.n_a, e.b, e.n_b, &i, &j), 0);
	IS(i, want_a);
	IS(j, want_b);
	IS(pier__gid_choose(e.b, e.n_b, e.a, e.n_a, &k, &l), 0);
	IS(k, j);
	IS(l, i);
}

static void ends_meet_on_a_common_subnet(void)
{
	static const char *const a[] = { "192.168.7.1/24", "10.1.0.1/16",
					 "fd00::1/64", NULL };
	static const char *const b[] = { "fd01::2/64", "10.2.0.2/16",
					 "10.1.9.9/16", NULL };

	check(a, b, 1, 2);
}

static void a_subnet_of_ipv6_wins_over_distant_ipv4(void)
{
	static const char *const a[] = { "192.168.7.1/24", "fd00::1/64",
					 NULL };
	static const char *const b[] = { "10.2.0.2/16", "fd00::2/64", NULL };

	check(a, b, 1, 1);
}

static void ipv4_wins_where_all_is_equal(void)
{
	static const char *const a[] = { "fd00::1/64", "10.1.0.1/16", NULL };
	static const char *const b[] = { "10.1.0.2/16", "fd00::2/64", NULL };

	check(a, b, 1, 0);
}

static void the_longest_common_prefix_wins_between_subnets(void)
{
	static const char *const a[] = { "10.1.0.1/24", "172.16.0.1/24",
					 NULL };
	static const char *const b[] = { "172.16.9.2/24", "11.1.0.2/24",
					 NULL };

	check(a, b, 1, 0);
}

static void ties_are_broken_the_same_way_at_both_ends(void)
{
	static const char *const a[] = { "10.1.0.4", "10.1.0.6", NULL };
	static const char *const b[] = { "10.1.0.5", "10.1.0.7", NULL };
	struct ends e = make(a, b);
	unsigned int i, j, k, l;

	IS(pier__gid_choose(e.a, e.n_a, e.b, e.n_b, &i, &j), 0);
	IS(pier__gid_choose(e.b, e.n_b, e.a, e.n_a, &k, &l), 0);
	IS(i, l);
	IS(j, k);
}

/* Many random ends, small so that ties are frequent. */
static void two_ends_always_choose_the_same_pair(void)
{
	unsigned int seed = 12345, round, n, i, j, k, l;
	struct ends e;

	for (round = 0; round < 2000 && tap_holds(); round++) {
		memset(&e, 0, sizeof(e));
		for (n = 0; n < 8; n++) {
			struct pier__gid_offer *offer =
				n < 4 ? &e.a[n] : &e.b[n - 4];

			set_gid(offer->raw, rand_r(&seed) & 1 ? "10.0.0.0" :
								"fd00::");
			offer->raw[14] = rand_r(&seed) & 1;
			offer->raw[15] = rand_r(&seed) & 7;
			offer->prefix = (uint8_t)(rand_r(&seed) % 3 * 12);
			offer->type = PIER_GID_ROCE_V2;
		}
		e.n_a = 1 + (unsigned int)rand_r(&seed) % 4;
		e.n_b = 1 + (unsigned int)rand_r(&seed) % 4;
		if (pier__gid_choose(e.a, e.n_a, e.b, e.n_b, &i, &j)) {
			IS(pier__gid_choose(e.b, e.n_b, e.a, e.n_a, &k, &l),
			   -EHOSTUNREACH);
			continue;
		}
		IS(pier__gid_choose(e.b, e.n_b, e.a, e.n_a, &k, &l), 0);
		IS(memcmp(e.a[i].raw, e.a[l].raw, 16), 0);
		IS(memcmp(e.b[j].raw, e.b[k].raw, 16), 0);
	}
}

static void ends_without_a_common_family_do_not_meet(void)
{
	static const char *const a[] = { "10.1.0.1/24", NULL };
	static const char *const b[] = { "fd00::1/64", NULL };
	static const char *const none[] = { NULL };
	struct ends e = make(a, b);
	unsigned int i = 99, j = 99;

	IS(pier__gid_choose(e.a, e.n_a, e.b, e.n_b, &i, &j), -EHOSTUNREACH);
	LIKE(pier_last_error(), "10.1.0.1");
	LIKE(pier_last_error(), "fd00::1");
	e = make(a, none);
	IS(pier__gid_choose(e.a, e.n_a, e.b, e.n_b, &i, &j), -EHOSTUNREACH);
	e = make(a, a);
	e.b[0].type = PIER_GID_ROCE_V1;
	IS(pier__gid_choose(e.a, e.n_a, e.b, e.n_b, &i, &j), -EHOSTUNREACH);
	IS(i, 99);
	IS(j, 99);
}

/* A port with a link-local address, a RoCEv1 one, and two good ones. */
static struct pier__port some_port(uint8_t link_layer)
{
	static const char *const gids[] = { "fe80::1", "10.1.0.1", "10.1.0.1",
					    "fd00::1" };
	struct pier__port port = { .link_layer = link_layer, .gid_count = 4 };
	unsigned int i;

	strcpy(port.name, "some0");
	for (i = 0; i < 4; i++) {
		set_gid(port.gids[i].raw, gids[i]);
		port.gids[i].index = 2 * i;
		port.gids[i].type = PIER_GID_ROCE_V2;
		port.gid_prefix[i] = 64;
	}
	port.gids[1].type = PIER_GID_ROCE_V1;
	return port;
}

static void only_what_reaches_beyond_the_link_is_offered(void)
{
	struct pier__port port = some_port(IBV_LINK_LAYER_ETHERNET);
	struct pier__gid_offer offers[PIER__GIDS_MAX];

	IS(pier__gid_offers(&port, PIER__GID_ANY, offers), 2);
	IS(offers[0].index, 4);
	IS(offers[1].index, 6);
	IS(offers[1].prefix, 64);
	IS(memcmp(offers[1].raw, port.gids[3].raw, 16), 0);
	port.gid_count = 2;
	IS(pier__gid_offers(&port, PIER__GID_ANY, offers), -EADDRNOTAVAIL);
	port = some_port(IBV_LINK_LAYER_INFINIBAND);
	IS(pier__gid_offers(&port, PIER__GID_ANY, offers), 4);
}

static void an_index_offers_one_address_of_any_kind(void)
{
	struct pier__port port = some_port(IBV_LINK_LAYER_ETHERNET);
	struct pier__gid_offer offers[PIER__GIDS_MAX];

	IS(pier__gid_offers(&port, 0, offers), 1);
	IS(memcmp(offers[0].raw, port.gids[0].raw, 16), 0);
	IS(pier__gid_offers(&port, 4, offers), 1);
	IS(offers[0].index, 4);
	IS(pier__gid_offers(&port, 3, offers), -ERANGE);
	IS(pier__gid_offers(&port, 8, offers), -ERANGE);
	LIKE(pier_last_error(), "some0");
}

static void no_more_is_offered_than_a_descriptor_holds(void)
{
	struct pier__port port = { .link_layer = IBV_LINK_LAYER_ETHERNET,
				   .gid_count = 32 };
	struct pier__gid_offer offers[PIER__GIDS_MAX];
	unsigned int i;

	for (i = 0; i < 32; i++) {
		set_gid(port.gids[i].raw, "10.1.0.0");
		port.gids[i].raw[15] = (uint8_t)i;
		port.gids[i].type = PIER_GID_ROCE_V2;
	}
	IS(pier__gid_offers(&port, PIER__GID_ANY, offers), PIER__GIDS_MAX);
}

static void roce_always_has_a_global_route(void)
{
	struct pier__av av = { .link_layer = IBV_LINK_LAYER_ETHERNET,
			       .port = 1, .service_level = 3, .dlid = 7,
			       .hop_limit = 64, .traffic_class = 96,
			       .sgid_index = 5 };
	struct ibv_ah_attr attr;

	set_gid(av.dgid, "10.1.0.2");
	pier__av_build(&av, &attr);
	IS(attr.is_global, 1);
	IS(attr.port_num, 1);
	IS(attr.dlid, 0);
	IS(attr.sl, 0);
	IS(attr.grh.hop_limit, 64);
	IS(attr.grh.traffic_class, 96);
	IS(attr.grh.sgid_index, 5);
	IS(memcmp(attr.grh.dgid.raw, av.dgid, 16), 0);
}

static void infiniband_has_one_between_subnets_only(void)
{
	struct pier__av av = { .link_layer = IBV_LINK_LAYER_INFINIBAND,
			       .port = 2, .service_level = 3, .dlid = 7,
			       .hop_limit = 64 };
	struct ibv_ah_attr attr;

	set_gid(av.sgid, "fe80::1");
	set_gid(av.dgid, "fe80::2");
	pier__av_build(&av, &attr);
	IS(attr.is_global, 0);
	IS(attr.dlid, 7);
	IS(attr.sl, 3);
	set_gid(av.dgid, "fec0::2");
	pier__av_build(&av, &attr);
	IS(attr.is_global, 1);
	IS(memcmp(attr.grh.dgid.raw, av.dgid, 16), 0);
}

static void infiniband_has_one_if_the_port_requires_it(void)
{
	struct pier__av av = { .link_layer = IBV_LINK_LAYER_INFINIBAND,
			       .grh = true, .port = 1, .sgid_index = 2,
			       .dlid = 7, .hop_limit = 64 };
	struct ibv_ah_attr attr;

	set_gid(av.sgid, "fe80::1");
	set_gid(av.dgid, "fe80::2");
	pier__av_build(&av, &attr);
	IS(attr.is_global, 1);
	IS(attr.dlid, 7);
	IS(attr.grh.sgid_index, 2);
	IS(memcmp(attr.grh.dgid.raw, av.dgid, 16), 0);
}

static void addresses_are_written_as_people_write_them(void)
{
	char text[INET6_ADDRSTRLEN];
	uint8_t raw[16];

	set_gid(raw, "10.9.0.1");
	IS_STR(pier__gid_text(raw, text), "10.9.0.1");
	set_gid(raw, "fd00::2");
	IS_STR(pier__gid_text(raw, text), "fd00::2");
}

/* @text as a socket address, written out again. */
static const char *again(const char *text, uint16_t port)
{
	static char ret[PIER__ADDR_TEXT];
	struct sockaddr_storage addr = { 0 };
	struct sockaddr_in6 *v6 = (void *)&addr;
	struct sockaddr_in *v4 = (void *)&addr;
	uint8_t gid[16], want[16];

	if (inet_pton(AF_INET, text, &v4->sin_addr) == 1)
		v4->sin_family = AF_INET;
	else if (inet_pton(AF_INET6, text, &v6->sin6_addr) == 1)
		v6->sin6_family = AF_INET6;
	v4->sin_port = htons(port);	/* both have it in one place */
	if (addr.ss_family) {
		set_gid(want, text);
		pier__sockaddr_to_gid((void *)&addr, gid);
		OK(!memcmp(gid, want, 16));
	}
	pier__sockaddr_text((void *)&addr, ret);
	return ret;
}

static void socket_addresses_are_written_with_their_port(void)
{
	struct sockaddr_in6 local = { .sin6_family = AF_INET6,
				      .sin6_scope_id = 1 };
	char text[PIER__ADDR_TEXT];

	IS_STR(again("10.9.0.1", 4711), "10.9.0.1 port 4711");
	IS_STR(again("fd00::2", 65535), "fd00::2 port 65535");
	IS_STR(again("", 1), "");
	inet_pton(AF_INET6, "fe80::1", &local.sin6_addr);
	pier__sockaddr_text((void *)&local, text);
	IS_STR(text, "fe80::1%lo");
}

static void any_address_is_known_in_both_families(void)
{
	struct sockaddr_in v4 = { .sin_family = AF_INET, .sin_port = 7 };
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6, .sin6_port = 7 };

	OK(pier__sockaddr_is_any((void *)&v4));
	OK(pier__sockaddr_is_any((void *)&v6));
	IS(pier__sockaddr_len((void *)&v4), sizeof(v4));
	IS(pier__sockaddr_len((void *)&v6), sizeof(v6));
	v4.sin_addr.s_addr = 1;
	v6.sin6_addr.s6_addr[15] = 1;
	OK(!pier__sockaddr_is_any((void *)&v4));
	OK(!pier__sockaddr_is_any((void *)&v6));
	v4.sin_family = AF_UNIX;
	IS(pier__sockaddr_len((void *)&v4), 0);
}

static void some_addresses_are_of_no_host(void)
{
	static const char *const good[] = {
		"127.0.0.1", "0.0.0.1", "223.255.255.255", "::1", "fe80::1",
		"::e000:1", "fd00::1",
	}, *const bad[] = {
		"0.0.0.0", "::", "224.0.0.1", "240.0.0.1", "255.255.255.255",
		"ff02::1",
	};
	struct in6_addr ip;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		set_gid(ip.s6_addr, good[i]);
		OK(pier__sockaddr_is_host(&ip));
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		set_gid(ip.s6_addr, bad[i]);
		OK(!pier__sockaddr_is_host(&ip));
	}
}

int main(void)
{
	TEST(ends_meet_on_a_common_subnet);
	TEST(a_subnet_of_ipv6_wins_over_distant_ipv4);
	TEST(ipv4_wins_where_all_is_equal);
	TEST(the_longest_common_prefix_wins_between_subnets);
	TEST(ties_are_broken_the_same_way_at_both_ends);
	TEST(two_ends_always_choose_the_same_pair);
	TEST(ends_without_a_common_family_do_not_meet);
	TEST(only_what_reaches_beyond_the_link_is_offered);
	TEST(an_index_offers_one_address_of_any_kind);
	TEST(no_more_is_offered_than_a_descriptor_holds);
	TEST(roce_always_has_a_global_route);
	TEST(infiniband_has_one_between_subnets_only);
	TEST(infiniband_has_one_if_the_port_requires_it);
	TEST(addresses_are_written_as_people_write_them);
	TEST(socket_addresses_are_written_with_their_port);
	TEST(any_address_is_known_in_both_families);
	TEST(some_addresses_are_of_no_host);
	return tap_done();
}
