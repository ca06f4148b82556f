/* SPDX-License-Identifier: BSD-2-Clause */
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
