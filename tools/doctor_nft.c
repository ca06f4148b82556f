/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "doctor.h"

/*
 * What nftables has for a first packet to a UDP port.  Only root may read it.
 * Rules that depend on more, such as on the sender, may match or not, and jumps
 * to another chain are not followed: after a rule that may accept the packet it
 * is not known whether a later one, or the policy, drops it.
 */

#define COMMAND "PATH=$PATH:/usr/sbin:/sbin; nft -j list ruleset 2>/dev/null"

enum verdict {
	NONE,		/* the next rule decides */
	PASSES,
	DROPPED,
	UNKNOWN,	/* it may pass */
};

enum fit { NO, MAYBE, YES };

/* A first packet of another host. */
struct packet {
	unsigned int port;
	bool by_lo;	/* the device is of lo */
};

/* Is @one, a value or an element of a set, that of the packet?  An enum fit. */
typedef int fits_fn(json_t *one, const struct packet *packet);

static json_t *read_ruleset(void)
{
	json_t *root, *all;
	FILE *pipe;

	if (geteuid())
		return NULL;
	pipe = popen(COMMAND, "re");
	if (!pipe)
		return NULL;
	root = json_loadf(pipe, 0, NULL);
	pclose(pipe);
	all = json_incref(json_object_get(root, "nftables"));
	json_decref(root);
	return all;
}

static const char *text_of(json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

static bool has(json_t *statement, const char *name)
{
	return json_object_get(statement, name);
}

static int fit_of(bool fits)
{
	return fits ? YES : NO;
}

static int fits_port(json_t *one, const struct packet *packet)
{
	json_t *range = json_object_get(one, "range");

	if (json_is_integer(one))
		return fit_of(json_integer_value(one) == packet->port);
	if (!range)
		return MAYBE;
	return fit_of(json_integer_value(json_array_get(range, 0)) <=
			      packet->port &&
		      json_integer_value(json_array_get(range, 1)) >=
			      packet->port);
}

/* The elements of a named set, "@NAME", are not looked up; "*" is the rest. */
static int fits_text(json_t *one, const char *text)
{
	const char *value = json_string_value(one);

	if (!value || *value == '@' || *value == '*')
		return MAYBE;
	return fit_of(!strcmp(value, text));
}

static int fits_udp(json_t *one, const struct packet *packet)
{
	(void)packet;
	return fits_text(one, "udp");
}

static int fits_state(json_t *one, const struct packet *packet)
{
	(void)packet;
	return fits_text(one, "new");
}

static int fits_netdev(json_t *one, const struct packet *packet)
{
	if (fits_text(one, "lo") != YES)
		return MAYBE;
	return fit_of(packet->by_lo);
}

/* "ip protocol udp" is of IPv4 alone, "ip6 nexthdr udp" of IPv6. */
static int fits_family(json_t *one, const struct packet *packet)
{
	return fits_udp(one, packet) == NO ? NO : MAYBE;
}

static int fits_perhaps(json_t *one, const struct packet *packet)
{
	(void)one;
	(void)packet;
	return MAYBE;
}

static const struct {
	const char *kind;	/* of what is compared */
	const char *of;		/* protocol, NULL: it has only a key */
	const char *key;
	fits_fn *fits;
} lefts[] = {
	{ "payload", "udp", "dport", fits_port },
	{ "payload", "th", "dport", fits_port },
	{ "payload", "ip", "protocol", fits_family },
	{ "payload", "ip6", "nexthdr", fits_family },
	{ "meta", NULL, "l4proto", fits_udp },
	{ "meta", NULL, "iif", fits_netdev },
	{ "meta", NULL, "iifname", fits_netdev },
	{ "ct", NULL, "state", fits_state },
};

static fits_fn *find_fits(json_t *left)
{
	for (size_t i = 0; i < sizeof(lefts) / sizeof(lefts[0]); i++) {
		json_t *what = json_object_get(left, lefts[i].kind);
		const char *key = text_of(what, lefts[i].of ? "field" : "key");

		if (!strcmp(key, lefts[i].key) &&
		    (!lefts[i].of ||
		     !strcmp(text_of(what, "protocol"), lefts[i].of)))
			return lefts[i].fits;
	}
	return fits_perhaps;
}

/* A field of these is in no UDP packet, whatever it is compared with. */
static bool is_other_protocol(json_t *left)
{
	static const char *const others[] = { "tcp", "icmp", "icmpv6", "sctp",
					      "dccp", "esp", "ah", "igmp" };
	const char *name = text_of(json_object_get(left, "payload"),
				   "protocol");

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (!strcmp(name, others[i]))
			return true;
	return false;
}

/* The right of a match is a value or has several. */
static int fits_any(json_t *right, fits_fn *fits,
		    const struct packet *packet)
{
	json_t *set = json_object_get(right, "set"), *one;
	int best = NO, fit;
	size_t i;

	set = json_is_array(right) ? right : set;
	if (!json_is_array(set))
		return fits(set ? set : right, packet);
	json_array_foreach(set, i, one) {
		fit = fits(one, packet);
		best = fit > best ? fit : best;
	}
	return best;
}

static int judge_match(json_t *match, const struct packet *packet)
{
	json_t *left = json_object_get(match, "left");
	fits_fn *fits = find_fits(left);
	int fit = fits_any(json_object_get(match, "right"), fits, packet);

	if (is_other_protocol(left))
		return NO;
	if (strcmp(text_of(match, "op"), "!="))
		return fit;
	/* what is of one family may be of the other */
	return fits == fits_family ? MAYBE : YES - fit;
}

/* Does the packet go on to what is behind @statement in the rule? */
static int judge_statement(json_t *statement, const struct packet *packet)
{
	json_t *match = json_object_get(statement, "match");

	if (match)
		return judge_match(match, packet);
	return has(statement, "limit") || has(statement, "quota") ||
	       has(statement, "ct count") || has(statement, "xt") ? MAYBE :
								    YES;
}

/* Another chain or the program of a queue may accept the packet. */
static enum verdict verdict_of(json_t *statement, enum verdict policy)
{
	if (has(statement, "accept"))
		return PASSES;
	if (has(statement, "drop") || has(statement, "reject"))
		return DROPPED;
	if (has(statement, "return"))
		return policy;
	return has(statement, "jump") || has(statement, "goto") ||
	       has(statement, "queue") || has(statement, "xt") ? UNKNOWN :
								 NONE;
}

/* A map from values to verdicts, of which at most one fits. */
static enum verdict judge_map(json_t *map, const struct packet *packet,
			      enum verdict policy)
{
	json_t *key = json_object_get(map, "key"), *one;
	json_t *set = json_object_get(json_object_get(map, "data"), "set");
	enum verdict verdict, all = json_is_array(set) ? NONE : UNKNOWN;
	fits_fn *fits = find_fits(key);
	size_t i;

	if (is_other_protocol(key))
		return NONE;
	json_array_foreach(set, i, one) {
		int fit = fits(json_array_get(one, 0), packet);

		verdict = verdict_of(json_array_get(one, 1), policy);
		if (fit == YES)
			return verdict;
		if (fit == MAYBE && verdict != NONE && verdict != DROPPED)
			all = UNKNOWN;
	}
	return all;
}

static enum verdict judge_rule(json_t *rule, const struct packet *packet,
			       enum verdict policy)
{
	json_t *expr = json_object_get(rule, "expr"), *one, *map;
	enum verdict verdict;
	int all = YES, fit;
	size_t i;

	json_array_foreach(expr, i, one) {
		fit = judge_statement(one, packet);
		all = fit < all ? fit : all;
		if (all == NO)
			return NONE;
		map = json_object_get(one, "vmap");
		verdict = map ? judge_map(map, packet, policy) :
				verdict_of(one, policy);
		if (verdict == NONE)
			continue;
		if (all == YES)
			return verdict;
		return verdict == DROPPED ? NONE : UNKNOWN;
	}
	return NONE;
}

static bool is_in_chain(json_t *rule, json_t *chain)
{
	return !strcmp(text_of(rule, "family"), text_of(chain, "family")) &&
	       !strcmp(text_of(rule, "table"), text_of(chain, "table")) &&
	       !strcmp(text_of(rule, "chain"), text_of(chain, "name"));
}

static enum verdict judge_chain(json_t *all, json_t *chain,
				const struct packet *packet)
{
	enum verdict policy = strcmp(text_of(chain, "policy"), "drop") ?
			      PASSES : DROPPED;
	enum verdict verdict, last = policy;
	bool may_pass = false;
	json_t *one, *rule;
	size_t i;

	json_array_foreach(all, i, one) {
		rule = json_object_get(one, "rule");
		if (!rule || !is_in_chain(rule, chain))
			continue;
		verdict = judge_rule(rule, packet, policy);
		may_pass |= verdict == UNKNOWN;
		if (verdict == NONE || verdict == UNKNOWN)
			continue;
		last = verdict;
		break;
	}
	return last == DROPPED && may_pass ? UNKNOWN : last;
}

/* Returns false: it drops nothing, as far as is known. */
static bool check_chain(struct doctor *d, json_t *all, json_t *chain,
			const struct packet *packet)
{
	enum verdict verdict = judge_chain(all, chain, packet);
	const char *family = text_of(chain, "family");
	const char *table = text_of(chain, "table");
	const char *name = text_of(chain, "name");
	json_t *finding;

	if (verdict == PASSES)
		return false;
	if (verdict == UNKNOWN)
		finding = doctor_add(d, "nftables", DOCTOR_OK, "nftables: "
				     "whether chain %s %s %s drops packets to "
				     "UDP port %u is not known: a rule that "
				     "may accept them depends on more than "
				     "the port", family, table, name,
				     packet->port);
	else
		finding = doctor_add(d, "nftables", DOCTOR_WARNING, "nftables: "
				     "chain %s %s %s drops packets to UDP port "
				     "%u", family, table, name, packet->port);
	tool_json_set(finding, "port", json_integer(packet->port));
	if (verdict == DROPPED)
		doctor_remedy(finding, "nft insert rule %s %s %s udp dport %u "
			      "accept", family, table, name, packet->port);
	return true;
}

static bool is_input(json_t *chain)
{
	return !strcmp(text_of(chain, "hook"), "input") &&
	       !strcmp(text_of(chain, "type"), "filter");
}

/* Returns false: no chain drops packets to @port, as far as is known. */
static bool check_port(struct doctor *d, json_t *all, unsigned int port)
{
	struct packet packet = {
		.port = port,
		.by_lo = d->info && !strcmp(pier_devinfo_netdev(d->info), "lo"),
	};
	json_t *one, *chain;
	bool found = false;
	size_t i;

	json_array_foreach(all, i, one) {
		chain = json_object_get(one, "chain");
		if (chain && is_input(chain))
			found |= check_chain(d, all, chain, &packet);
	}
	return found;
}

void doctor_nft(struct doctor *d)
{
	unsigned int port = d->path ? d->path->port : TOOL_PORT;
	json_t *all = read_ruleset();
	bool found = check_port(d, all, DOCTOR_ROCE_PORT);

	if (port != DOCTOR_ROCE_PORT)
		found |= check_port(d, all, port);
	if (!all)
		doctor_add(d, "nftables", DOCTOR_OK, "nftables: its rules "
			   "cannot be read %s", geteuid() ? "by this user" :
			   "here");
	else if (!found)
		doctor_add(d, "nftables", DOCTOR_OK, "nftables: no rule that "
			   "could be read drops packets to UDP ports %u and %u",
			   DOCTOR_ROCE_PORT, port);
	json_decref(all);
}
