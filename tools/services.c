/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>

#include <pier/error.h>
#include <pier/service.h>

#include "tool.h"

static json_t *to_json(const struct pier_service *service)
{
	json_t *one = json_object(), *addresses = json_array();

	for (int i = 0; i < service->address_count; i++)
		tool_json_append(addresses,
				 tool_json_text(service->address[i]));
	tool_json_set(one, "pid", json_integer(service->pid));
	tool_json_set(one, "program", tool_json_text(service->program));
	tool_json_set(one, "device", tool_json_text(service->device));
	tool_json_set(one, "addresses", addresses);
	tool_json_set(one, "port", json_integer(service->port));
	tool_json_set(one, "exports", json_integer(service->exports));
	tool_json_set(one, "peers", json_integer(service->peers));
	tool_json_set(one, "refused",
		      json_integer((json_int_t)service->refused));
	return one;
}

json_t *tool_services(const char *device)
{
	const struct pier_service *service;
	struct pier_servicelist *list;
	json_t *all = json_array();

	if (pier_servicelist_create(0, &list)) {
		tool_message("pier info: %s", pier_last_error());
		return all;
	}
	for (size_t i = 0; (service = pier_servicelist_get(list, i)); i++) {
		if (!device || !strcmp(device, service->device))
			tool_json_append(all, to_json(service));
	}
	pier_servicelist_destroy(list);
	return all;
}

static void print_number(json_t *service, const char *key)
{
	printf("  %-10s%" JSON_INTEGER_FORMAT "\n", key,
	       json_integer_value(json_object_get(service, key)));
}

static const char *text_of(json_t *service, const char *key)
{
	return json_string_value(json_object_get(service, key));
}

static void print_addresses(json_t *service)
{
	const char *title = "addresses";
	json_t *address;
	size_t i;

	json_array_foreach(json_object_get(service, "addresses"), i, address) {
		printf("  %-10s%s\n", title, json_string_value(address));
		title = "";
	}
}

void tool_services_print(json_t *services)
{
	json_t *service;
	size_t i;

	json_array_foreach(services, i, service) {
		printf("\nservice of %" JSON_INTEGER_FORMAT " %s on %s\n",
		       json_integer_value(json_object_get(service, "pid")),
		       text_of(service, "program"),
		       text_of(service, "device"));
		print_addresses(service);
		print_number(service, "port");
		print_number(service, "exports");
		print_number(service, "peers");
		print_number(service, "refused");
	}
}
