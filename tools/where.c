/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"

static int is_number(const char *text)
{
	return text[0] && !text[strspn(text, "0123456789")];
}

/* The port in @text, which may be all of it; "" if it has none. */
static const char *port_in(const char *text)
{
	const char *colon = strrchr(text, ':');

	if (is_number(text))
		return text;
	if (text[0] == '[')
		return colon && colon[-1] == ']' ? colon + 1 : "";
	/* an IPv6 address has several */
	return colon && strchr(text, ':') == colon ? colon + 1 : "";
}

int tool_has_port(const char *text)
{
	const char *colon = strrchr(text, ':');

	return *port_in(text) || (colon && !colon[1] &&
				  strchr(text, ':') == colon);
}

int tool_is_peer(const char *text)
{
	const char *digits = port_in(text);
	size_t len = strlen(text);
	unsigned long port;

	if (!*digits)	/* an IPv6 address may end in two colons */
		return len && (text[len - 1] != ':' ||
			       (len > 1 && text[len - 2] == ':'));
	port = is_number(digits) ? strtoul(digits, NULL, 10) : 0;
	return digits > text + 1 && port && port <= 65535;
}

int tool_listen_at(const char *text, char address[TOOL_ADDRESS_MAX],
		   uint32_t *ret_port)
{
	const char *digits = port_in(text);
	size_t len = *digits ? (size_t)(digits - text) : strlen(text);
	unsigned long port = *digits ? strtoul(digits, NULL, 10) : TOOL_PORT;

	if (*digits && len)
		len--;		/* the colon */
	if (len > 1 && text[0] == '[' && text[len - 1] == ']') {
		text++;
		len -= 2;
	}
	if ((*digits && !is_number(digits)) || port > 65535 ||
	    len >= TOOL_ADDRESS_MAX)
		return 2;
	memcpy(address, text, len);
	address[len] = '\0';
	*ret_port = (uint32_t)port;
	return 0;
}

int tool_is_any(const char *address)
{
	static const struct in6_addr any;
	struct in6_addr six;
	struct in_addr four;

	return (inet_pton(AF_INET, address, &four) == 1 && !four.s_addr) ||
	       (inet_pton(AF_INET6, address, &six) == 1 &&
		!memcmp(&six, &any, sizeof(any)));
}

const char *tool_listen_word(int *argc, char *argv[], int *listening)
{
	static const char option[] = "--listen=";
	const char *place = NULL;
	int to = 1, is_operand = 0;

	for (int from = 1; from < *argc; from++) {
		is_operand |= !strcmp(argv[from], "--");
		if (is_operand ||
		    strncmp(argv[from], option, strlen(option))) {
			argv[to++] = argv[from];
			continue;
		}
		place = argv[from] + strlen(option);
		*listening = 1;
	}
	argv[to] = NULL;
	*argc = to;
	return place;
}

int tool_one_place(const char *command, const char *word, const char *operand,
		   const char **ret)
{
	*ret = operand ? operand : word;
	if (!operand || !word)
		return 0;
	tool_message("%s: --listen=%s and \"%s\": give one of them", command,
		     word, operand);
	return 2;
}
