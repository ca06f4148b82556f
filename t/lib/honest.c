/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <pier/error.h>

#include "t/lib/honest.h"
#include "t/lib/liar.h"
#include "t/lib/tap.h"

static char base[] = "/tmp/pier-lies.XXXXXX";
static char big_path[64], *big_file[1] = { big_path };
static int port_pipe[2];

struct honest honest;

static void on_listening(unsigned int at, void *arg)
{
	(void)arg;
	OK(write(port_pipe[1], &at, sizeof(at)) == sizeof(at));
}

static void *exchange(void *arg)
{
	(void)arg;
	honest.result = pier_exchange(&honest.cfg);
	snprintf(honest.reason, sizeof(honest.reason), "%s",
		 honest.result < 0 ? pier_last_error() : "");
	return NULL;
}

void honest_start(void)
{
	IS(pthread_create(&honest.thread, NULL, exchange, NULL), 0);
}

void honest_dial(void)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
		.sin_port = htons((uint16_t)honest.port),
	};

	liar.sock = socket(AF_INET, SOCK_STREAM, 0);
	IS(connect(liar.sock, (struct sockaddr *)&addr, sizeof(addr)), 0);
	liar.len = 0;
}

void honest_meet(int timeout_ms, bool receive, bool big)
{
	honest.cfg = (struct pier_exchange_config){
		.size = sizeof(honest.cfg),
		.role = PIER_EXCHANGE_LISTEN,
		.address = "127.0.0.1:0",
		.send = (const char *const *)big_file,
		.send_count = big,
		.receive = receive ? honest.dir : NULL,
		.timeout_ms = timeout_ms,
		.listening = on_listening,
	};
	honest_start();
	OK(read(port_pipe[0], &honest.port, sizeof(honest.port)) ==
	   sizeof(honest.port));
	honest_dial();
}

void honest_part(void)
{
	close(liar.sock);
	liar.sock = -1;
	IS(pthread_join(honest.thread, NULL), 0);
}

int honest_entries(void)
{
	char path[512];
	struct dirent *entry;
	DIR *d = opendir(honest.dir);
	int count = 0;

	while (d && (entry = readdir(d))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		snprintf(path, sizeof(path), "%s/%s", honest.dir,
			 entry->d_name);
		unlink(path);
		count++;
	}
	if (d)
		closedir(d);
	return count;
}

void honest_refuses(const char *part)
{
	liar_send();
	if (OK(liar_recv_until(LIAR_FAILED)))
		LIKE(liar.text, part);
	honest_part();
	IS(honest.result, -EPROTO);
	LIKE(honest.reason, part);
	IS(honest_entries(), 0);
}

void honest_finish(uint64_t files)
{
	liar_add(LIAR_DONE, 0, NULL, 0);
	liar_send();
	OK(liar_recv_until(LIAR_DONE));
	liar_add(LIAR_STORED, files, NULL, 0);
	liar_send();
	IS(shutdown(liar.sock, SHUT_WR), 0);
	OK(liar_recv_until(LIAR_STORED));
	honest_part();
}

bool honest_open(void)
{
	FILE *file;

	if (!mkdtemp(base) || pipe(port_pipe))
		return false;
	snprintf(honest.dir, sizeof(honest.dir), "%s/in", base);
	snprintf(big_path, sizeof(big_path), "%s/big", base);
	file = fopen(big_path, "w");
	if (!file || ftruncate(fileno(file), PIER_EXCHANGE_FILE_MAX))
		return false;
	return fclose(file) == 0;
}

void honest_close(void)
{
	unlink(big_path);
	rmdir(honest.dir);
	rmdir(base);
}
