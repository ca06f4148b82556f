/* SPDX-License-Identifier: BSD-2-Clause */
#include "doctor.h"

/* Modules of the kernel: verbs devices need the first two. */

static const struct {
	const char *name;
	const char *purpose;
	bool required;		/* by verbs devices */
	const char *made;	/* a file that it makes, or NULL */
} modules[] = {
	{ "ib_uverbs", "programs use RDMA devices by it", true,
	  "/sys/class/infiniband_verbs/abi_version" },
	{ "rdma_ucm", "programs connect RDMA devices by address by it", true,
	  "/sys/class/misc/rdma_cm/abi_version" },
	{ "rdma_rxe", "Soft-RoCE, RDMA devices on any interface", false, NULL },
};

/* Loaded, or part of the kernel, which sysfs shows by what it has made. */
static bool is_there(size_t i)
{
	char line[DOCTOR_LINE];

	return doctor_line(line, "/sys/module/%s/refcnt", modules[i].name) ||
	       (modules[i].made && doctor_line(line, "%s", modules[i].made));
}

void doctor_modules(struct doctor *d)
{
	bool needed = doctor_has_rdma(d);

	for (size_t i = 0; i < sizeof(modules) / sizeof(modules[0]); i++) {
		const char *name = modules[i].name;
		bool loaded = is_there(i);
		bool bad = !loaded && needed && modules[i].required;
		json_t *finding;

		finding = doctor_add(d, "kernel_module", bad ? DOCTOR_WARNING :
				     DOCTOR_OK, "%s is %s: %s%s", name,
				     loaded ? "loaded" : "not loaded",
				     modules[i].purpose, loaded || needed ? "" :
				     "; soft devices do not need it");
		tool_json_set(finding, "module", json_string(name));
		tool_json_set(finding, "loaded", json_boolean(loaded));
		if (bad)
			doctor_remedy(finding, "modprobe %s", name);
	}
}
