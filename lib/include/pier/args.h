/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_ARGS_H
#define PIER_ARGS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Command lines.  Short names can have several letters ("-ld"); a value is the
 * next word, or follows after "=" ("--device=soft_lo").  Every program has -h,
 * -v, -l/--log-level LEVEL and -j/--json FILE, whose keys are long names; the
 * command line takes precedence over the file.  An option of the program takes
 * precedence over a common option of the same name.  One thread.
 */
enum pier_option_type {
	PIER_OPTION_FLAG,	/* no value; int, set to 1 */
	PIER_OPTION_INT,	/* int, decimal or 0x */
	PIER_OPTION_SIZE,	/* uint64_t; 4096, 64K, 1M, 2G */
	PIER_OPTION_STRING,	/* const char *; belongs to pier or argv */
	PIER_OPTION_NUMBER,	/* uint64_t, decimal or 0x */
};

struct pier_option {
	const char *short_name;	/* "ld"; NULL: none */
	const char *long_name;	/* "local-descriptor-path"; NULL: none */
	const char *value_name;	/* "FILE", for the help */
	const char *help;	/* one line; NULL: an alias, not shown */
	enum pier_option_type type;
	int required;		/* non-zero: must be given */
	int64_t min, max;	/* of a number, or of a string's length; */
				/* both 0: any */
	void *value;		/* gets the value; keeps its default */
};

/* Groups of options that programs share; see struct pier_args. */
enum pier_args_group {
	PIER_ARGS_DEVICE = 1,		/* -d -g */
	PIER_ARGS_FILES = 2,		/* -ld -re -m */
	PIER_ARGS_TIMEOUT = 4,		/* --timeout */
	PIER_ARGS_CM = 8,		/* -cm -sa -sat -lp */
	PIER_ARGS_ATTACHED = 16,	/* no options, but "-n5" is "-n 5", */
					/* and "-rp" is "-r -p" */
	PIER_ARGS_NAME = 32,		/* -d */
	PIER_ARGS_SERVER = 64,		/* -sa -lp: for a client */
	PIER_ARGS_PORT = 128,		/* -lp: for its server */
};

struct pier_args {
	size_t size;		/* sizeof(struct pier_args), always */
	unsigned int groups;	/* enum pier_args_group, or-ed */
	const char *about;	/* what the program does, one line; or NULL */
	const char *operands;	/* "FILE..." for the help; NULL: none taken */
	const struct pier_option *options;	/* own ones; ends with a */
				/* nameless entry; NULL: none */

	/* filled in by pier_args_parse(), defaults by PIER_ARGS_RENDEZVOUS */
	const char *device;		/* name, netdev or PCI address; NULL */
	int gid_index;			/* -1: choose */
	const char *local_descriptor;	/* this side's connection */
	const char *remote_descriptor;	/* the peer's connection */
	const char *memory_descriptor;	/* the responder's memory */
	int timeout_ms;
	int use_cm;			/* non-zero: by CM, not by files */
	const char *server_addr;	/* connect there, by CM; NULL: listen */
	const char *server_addr_type;	/* "IPv4", "IPv6", "GID" in any case, */
					/* "ip4", "ip6"; NULL: any */
	int listen_port;		/* the server's */
	int argc;			/* operands left over */
	char **argv;
};

/*
 * For programs that connect to a peer: device, descriptor files or CM, timeout.
 * In the order of the members, because C++ before 20 has no designated
 * initialisers.
 */
#define PIER_ARGS_RENDEZVOUS \
	{ \
		sizeof(struct pier_args), \
		PIER_ARGS_DEVICE | PIER_ARGS_FILES | PIER_ARGS_TIMEOUT | \
			PIER_ARGS_CM, \
		NULL, NULL, NULL, \
		NULL, -1,		/* device, gid_index */ \
		"/tmp/local_connection_desc_path.txt", \
		"/tmp/remote_connection_desc_path.txt", \
		"/tmp/remote_resource_desc_path.txt", \
		60000,			/* timeout_ms */ \
		0, NULL, NULL, 13579,	/* use_cm to listen_port */ \
		0, NULL, \
	}

/* The text that the samples send if none is given. */
#define PIER_ARGS_TEXT "Hi DOCA RDMA!"

/*
 * Fill @args from the command line.  Strings live as long as the process.
 * Errors: -PIER_EHELP, help or version was printed to stdout; -PIER_EUSAGE, the
 * error message and the usage were printed to stderr.
 */
int pier_args_parse(struct pier_args *args, int argc, char *argv[]);

/*
 * The exit status for what pier_args_parse() returned: 0 for help, or 1 and an
 * error message if stdout cannot be written; else 2.
 */
int pier_args_exit(int err);

#ifdef __cplusplus
}
#endif

#endif
