/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>

#include "tool.h"

/* pier info --brief: a line for each device. */

static const char *const columns[] = { "name", "netdev", "pci" };

#define COLUMNS (sizeof(columns) / sizeof(columns[0]))

static const char *text_of(json_t *dev, const char *key)
{
	const char *text = json_string_value(json_object_get(dev, key));

	return text && *text ? text : "-";
}

static int width_of(json_t *devs, const char *key)
{
	json_t *dev;
	size_t i;
	int width = 1;

	json_array_foreach(devs, i, dev) {
		int len = (int)strlen(text_of(dev, key));

		if (len > width)
			width = len;
	}
	return width;
}

static void print_line(json_t *dev, const int width[COLUMNS])
{
	const char *state = text_of(dev, "state");
	int usual = json_is_true(json_object_get(dev, "default"));

	for (size_t i = 0; i < COLUMNS; i++)
		printf("%s%-*s%s  ", i ? "" : tool_style(TOOL_TITLE), width[i],
		       text_of(dev, columns[i]),
		       i ? "" : tool_style(TOOL_PLAIN));
	printf("%s%s%s%s\n",
	       tool_style(strcmp(state, "active") ? TOOL_BAD : TOOL_GOOD),
	       state, tool_style(TOOL_PLAIN), usual ? "  default" : "");
}

void tool_brief(json_t *devs)
{
	int width[COLUMNS];
	json_t *dev;
	size_t i;

	for (i = 0; i < COLUMNS; i++)
		width[i] = width_of(devs, columns[i]);
	json_array_foreach(devs, i, dev)
		print_line(dev, width);
}
