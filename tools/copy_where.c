/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "copy.h"
#include "tool.h"

/* Where pier copy finds files: words of the command line. */

#define DIGITS "0123456789"

/*
 * The path in "HOST:PATH", whose host ends at *ret_len, or NULL: it is a file
 * of this host, which may contain a colon behind a slash.
 */
static const char *remote_path(const char *word, size_t *ret_len)
{
	const char *end = word + strcspn(word, ":/");

	if (word[0] == '[') {		/* an IPv6 address */
		end = strchr(word, ']');
		if (!end || *++end != ':')
			return NULL;
	}
	if (*end != ':' || end == word)
		return NULL;
	*ret_len = (size_t)(end - word);
	return end + 1;
}

/* Copy the host of @word to @t; 2: another one than before, or too long. */
static int take_host(struct copy_tool *t, const char *word, size_t len)
{
	if (word[0] == '[') {
		word++;
		len -= 2;
	}
	if (len >= sizeof(t->host)) {
		tool_message("pier copy: a host of %zu bytes: at most %zu are "
			     "allowed", len, sizeof(t->host) - 1);
		return 2;
	}
	if (t->host[0] && (strlen(t->host) != len ||
			   strncmp(t->host, word, len))) {
		tool_message("pier copy: \"%.*s\" and \"%s\": the sources are "
			     "of one host", (int)len, word, t->host);
		return 2;
	}
	memcpy(t->host, word, len);
	t->host[len] = '\0';
	return 0;
}

/* The digits are of @text, which shows where they are. */
static int take_port(struct copy_tool *t, const char *digits, const char *text)
{
	unsigned long port = strtoul(digits, NULL, 10);

	if (!port || port > 65535) {
		tool_message("pier copy: \"%s\": a port is 1 to 65535", text);
		return 2;
	}
	if (t->port && t->port != (int)port) {
		tool_message("pier copy: port %lu and port %d: give one of "
			     "them", port, t->port);
		return 2;
	}
	t->port = (int)port;
	return 0;
}

/* Take host and port of @word; the path remains of it. */
static int take_remote(struct copy_tool *t, char **word)
{
	size_t len;
	const char *path = remote_path(*word, &len);
	size_t digits = strspn(path, DIGITS);
	int err = take_host(t, *word, len);

	if (!err && digits && path[digits] == ':') {
		err = take_port(t, path, *word);
		path += digits + 1;
	}
	*word = (char *)path;
	return err;
}

/* Without --port, one that has no port is of the default one. */
static int take_sources(struct copy_tool *t, char *word[], size_t count)
{
	int given = t->port, first = 0, port;

	for (size_t i = 0; i < count; i++) {
		t->port = given;
		if (take_remote(t, &word[i]))
			return 2;
		port = t->port ? t->port : TOOL_PORT;
		if (first && port != first) {
			tool_message("pier copy: port %d and port %d: the "
				     "sources are of one port", port, first);
			return 2;
		}
		first = port;
	}
	return 0;
}

int copy_where(struct copy_tool *t, char *word[], size_t count,
	       const char **ret_target)
{
	size_t len;
	int to_host = remote_path(word[count], &len) != NULL, err = 0;

	for (size_t i = 0; i < count; i++) {
		if ((remote_path(word[i], &len) == NULL) != to_host) {
			tool_message("pier copy: either the sources or the "
				     "target is HOST[:PORT]:PATH, \"%s\" and "
				     "\"%s\" not", word[i], word[count]);
			return 2;
		}
	}
	if (to_host)
		err = take_remote(t, &word[count]);
	else
		err = take_sources(t, word, count);
	*ret_target = to_host ? word[count] : NULL;
	return err;
}

int copy_listen_at(struct copy_tool *t, const char *text)
{
	if (*text && !text[strspn(text, DIGITS)])
		return take_port(t, text, text);
	tool_message("pier copy: --listen \"%s\": PORT, 1 to 65535; -d chooses "
		     "the device and with it the addresses", text);
	return 2;
}

/* The server of this host has no address: it is found by the device. */
const char *copy_address(const struct copy_tool *t)
{
	if (!strcmp(t->host, "localhost") || !strcmp(t->host, "::1") ||
	    !strncmp(t->host, "127.", 4))
		return NULL;
	return t->host;
}
