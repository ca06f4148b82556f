/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "doctor.h"

/*
 * What nftables has for a first packet to a UDP port.  Only root may read it.
 * Rules that depend on more than the port, such as on the interface, are passed
 * over; what follows a jump to another chain is not known.
 */

#define COMMAND "PATH=$PATH:/usr/sbin:/sbin; nft -j list ruleset 2>/dev/null"

enum verdict { PASSES, DROPPED, UNKNOWN };

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

/* Is @port the number, in the range, in the set of them? */
static bool has_port(json_t *right, unsigned int port)
{
	json_t *range = json_object_get(right, "range"), *one;
	json_t *set = json_object_get(right, "set");
	size_t i;

	if (json_is_integer(right))
		return json_integer_value(right) == port;
	if (range)
		return json_integer_value(json_array_get(range, 0)) <= port &&
		       json_integer_value(json_array_get(range, 1)) >= port;
	json_array_foreach(set, i, one) {
		/* a set has no sets in it */
		if (!json_object_get(one, "set") && has_port(one, port))
			return true;
	}
	return false;
}

/* A match of @expr: 1, a first packet to the port has it; 0: not, or perhaps */
static bool has_match(json_t *match, unsigned int port)
{
	json_t *left = json_object_get(match, "left");
	json_t *right = json_object_get(match, "right");
	json_t *payload = json_object_get(left, "payload");
	bool same;

	if (!strcmp(text_of(payload, "field"), "dport") &&
	    (!strcmp(text_of(payload, "protocol"), "udp") ||
	     !strcmp(text_of(payload, "protocol"), "th")))
		same = has_port(right, port);
	else if (!strcmp(text_of(json_object_get(left, "meta"), "key"),
			 "l4proto"))
		same = !strcmp(json_is_string(right) ?
			       json_string_value(right) : "", "udp");
	else
		return false;
	return strcmp(text_of(match, "op"), "!=") ? same : !same;
}

/* Returns UNKNOWN for a rule that does not decide, *ret_jump if it jumps. */
static enum verdict judge_rule(json_t *rule, unsigned int port, bool *ret_jump)
{
	json_t *expr = json_object_get(rule, "expr"), *one, *match;
	size_t i;

	*ret_jump = false;
	json_array_foreach(expr, i, one) {
		match = json_object_get(one, "match");
		if (match && !has_match(match, port))
			return UNKNOWN;
		if (json_object_get(one, "accept"))
			return PASSES;
		if (json_object_get(one, "drop") ||
		    json_object_get(one, "reject"))
			return DROPPED;
		*ret_jump |= json_object_get(one, "jump") ||
			     json_object_get(one, "goto");
	}
	return UNKNOWN;
}

static bool is_in_chain(json_t *rule, json_t *chain)
{
	return !strcmp(text_of(rule, "family"), text_of(chain, "family")) &&
	       !strcmp(text_of(rule, "table"), text_of(chain, "table")) &&
	       !strcmp(text_of(rule, "chain"), text_of(chain, "name"));
}

static enum verdict judge_chain(json_t *all, json_t *chain, unsigned int port)
{
	enum verdict verdict;
	json_t *one, *rule;
	bool jump;
	size_t i;

	json_array_foreach(all, i, one) {
		rule = json_object_get(one, "rule");
		if (!rule || !is_in_chain(rule, chain))
			continue;
		verdict = judge_rule(rule, port, &jump);
		if (verdict != UNKNOWN)
			return verdict;
		if (jump)
			return UNKNOWN;
	}
	return strcmp(text_of(chain, "policy"), "drop") ? PASSES : DROPPED;
}

static void check_chain(struct doctor *d, json_t *all, json_t *chain,
			unsigned int port)
{
	const char *family = text_of(chain, "family");
	const char *table = text_of(chain, "table");
	const char *name = text_of(chain, "name");
	json_t *finding;

	if (judge_chain(all, chain, port) != DROPPED)
		return;
	finding = doctor_add(d, "nftables", DOCTOR_WARNING, "nftables: chain "
			     "%s %s %s drops packets to UDP port %u", family,
			     table, name, port);
	tool_json_set(finding, "port", json_integer(port));
	doctor_remedy(finding, "nft insert rule %s %s %s udp dport %u accept",
		      family, table, name, port);
}

static bool is_input(json_t *chain)
{
	return !strcmp(text_of(chain, "hook"), "input") &&
	       !strcmp(text_of(chain, "type"), "filter");
}

void doctor_nft(struct doctor *d)
{
	unsigned int before = d->counts[DOCTOR_WARNING];
	unsigned int port = d->path ? d->path->port : TOOL_PORT;
	json_t *all = read_ruleset(), *one, *chain;
	size_t i;

	json_array_foreach(all, i, one) {
		chain = json_object_get(one, "chain");
		if (!chain || !is_input(chain))
			continue;
		check_chain(d, all, chain, DOCTOR_ROCE_PORT);
		if (port != DOCTOR_ROCE_PORT)
			check_chain(d, all, chain, port);
	}
	if (!all)
		doctor_add(d, "nftables", DOCTOR_OK, "nftables: its rules "
			   "cannot be read %s", geteuid() ? "by this user" :
			   "here");
	else if (d->counts[DOCTOR_WARNING] == before)
		doctor_add(d, "nftables", DOCTOR_OK, "nftables: no rule that "
			   "could be read drops packets to UDP ports %u and %u",
			   DOCTOR_ROCE_PORT, port);
	json_decref(all);
}
