/* SPDX-License-Identifier: BSD-2-Clause */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <liburing.h>

#include "t/lib/copyliar.h"
#include "t/lib/copythread.h"
#include "t/lib/entries.h"
#include "t/lib/limit.h"
#include "t/lib/pair.h"
#include "t/lib/tap.h"

/*
 * One end of a copy is killed, at every stage: the other one ends with an error
 * message, the target is the old one or the new one, and the next copy works.
 */
#define LEN 5000000	/* five slots */
#define PIECE 65536	/* less is none of the file */
#define TIMEOUT_MS 5000

enum stage {
	NOWHERE,
	READING,	/* a sender has no byte of the file */
	HAS_READ,	/* it sends the first ones */
	WRITING,	/* a receiver: before it has any */
	HAS_WRITTEN,	/* it has a part */
	RECEIVED,	/* it has all of them */
	SYNCING, RENAMING,
	RENAMED,	/* the target is the new one */
};

static enum stage killed_at;	/* in the process that is killed */
static struct pier_dev *dev, *far_dev;
static char name[48];		/* the server's, of this run alone */
static char base[] = "/tmp/pier-copy.XXXXXX";
static char root[64], here[64], source[96], target[96];
static uint8_t bytes[LEN];

static void reach(enum stage stage)
{
	if (stage == killed_at)
		raise(SIGKILL);
}

/* What libpier calls at these stages; without the ring, its threads do. */

int io_uring_queue_init(unsigned int entries, struct io_uring *ring,
			unsigned int flags)
{
	(void)entries;
	(void)ring;
	(void)flags;
	return -EPERM;
}

static bool is_source(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && st.st_size == LEN;
}

ssize_t pread(int fd, void *buf, size_t len, off_t at)
{
	ssize_t (*next)(int, void *, size_t, off_t) = dlsym(RTLD_NEXT, "pread");
	ssize_t n;

	if (is_source(fd))
		reach(READING);
	n = next(fd, buf, len, at);
	if (is_source(fd))
		reach(HAS_READ);
	return n;
}

ssize_t pwrite(int fd, const void *buf, size_t len, off_t at)
{
	ssize_t (*next)(int, const void *, size_t, off_t) =
		dlsym(RTLD_NEXT, "pwrite");
	ssize_t n;

	if (len > PIECE)
		reach(WRITING);
	n = next(fd, buf, len, at);
	if (len > PIECE)
		reach(HAS_WRITTEN);
	return n;
}

int ftruncate(int fd, off_t len)
{
	int (*next)(int, off_t) = dlsym(RTLD_NEXT, "ftruncate");

	if (len == LEN)
		reach(RECEIVED);
	return next(fd, len);
}

int fsync(int fd)
{
	int (*next)(int) = dlsym(RTLD_NEXT, "fsync");

	reach(SYNCING);
	return next(fd);
}

int renameat(int from, const char *old, int to, const char *new)
{
	int (*next)(int, const char *, int, const char *) =
		dlsym(RTLD_NEXT, "renameat");
	int err;

	reach(RENAMING);
	err = next(from, old, to, new);
	reach(RENAMED);
	return err;
}

/* Files. */

static void write_file(const char *path, const void *data, size_t len)
{
	FILE *file = fopen(path, "w");

	OK(file && fwrite(data, 1, len, file) == len);
	if (file)
		fclose(file);
}

static bool has(const char *path, const void *data, size_t len)
{
	static uint8_t seen[LEN + 1];
	FILE *file = fopen(path, "r");
	size_t n = file ? fread(seen, 1, sizeof(seen), file) : 0;

	if (file)
		fclose(file);
	return n == len && !memcmp(seen, data, len);
}

static bool is_old(void)
{
	return has(target, "old", 3);
}

static bool is_new(void)
{
	return has(target, bytes, LEN);
}

/* What of @call's is where, with the old target. */
static void place_files(enum copythread_call call)
{
	bool sends = call == COPYTHREAD_SEND;

	snprintf(source, sizeof(source), "%s/source", sends ? here : root);
	snprintf(target, sizeof(target), "%s/target", sends ? root : here);
	write_file(source, bytes, LEN);
	write_file(target, "old", 3);
}

static void remove_files(void)
{
	IS(unlink(source), 0);
	IS(unlink(target), 0);
	IS(entries_in(root), 0);
	IS(entries_in(here), 0);
}

/* The ends. */

static struct pier_copy_config config(void)
{
	return (struct pier_copy_config){
		.size = sizeof(struct pier_copy_config),
		.name = name,
		.root = root,
		.flags = PIER_COPY_ONCE,
		.timeout_ms = TIMEOUT_MS * limit_slower(),
	};
}

static bool start_server(struct copythread *server)
{
	struct pier_copy_config cfg = config();

	return copythread_start(server, far_dev, &cfg, COPYTHREAD_SERVE, NULL,
				NULL);
}

/* Of the paths, those of the server are below its root. */
static bool start_client(struct copythread *client, enum copythread_call call)
{
	struct pier_copy_config cfg = config();
	bool sends = call == COPYTHREAD_SEND;

	cfg.flags = 0;
	return copythread_start(client, dev, &cfg, call,
				sends ? source : "source",
				sends ? "target" : target);
}

static bool open_devices(void)
{
	return IS(pier_dev_open(NULL, &dev), 0) &&
	       IS(pier_dev_open(NULL, &far_dev), 0);
}

static void close_devices(void)
{
	pier_dev_close(far_dev);
	pier_dev_close(dev);
	dev = far_dev = NULL;
}

/* The next copy, which removes what a receiver has left. */
static void copy_again(enum copythread_call call)
{
	struct copythread server, client;

	if (start_server(&server) && start_client(&client, call)) {
		IS(copythread_join(&client), 0);
		IS(copythread_join(&server), 0);
		OK(is_new());
	}
	remove_files();
}

/* The process of the client waits for that of the server. */

static bool listens(struct pair *pair)
{
	return OK(pair_send(pair, "", 1));
}

static bool there_is_server(struct pair *pair)
{
	char word;

	return IS(pair_recv(pair, &word, 1), 1);
}

/* A process that is killed, by itself. */
struct victim {
	enum copythread_call call;	/* of the client */
	bool is_server;
	enum stage stage;
};

static int die(struct pair *me, void *arg)
{
	const struct victim *v = arg;
	struct copythread end;

	if (!open_devices())
		return 1;
	killed_at = v->stage;
	if (v->is_server ? start_server(&end) && listens(me) :
			   there_is_server(me) && start_client(&end, v->call))
		copythread_join(&end);
	return 1;			/* it lives */
}

static void survive(struct pair *pair, const struct victim *v)
{
	struct copythread end;

	if (!(v->is_server ? there_is_server(pair) &&
				     start_client(&end, v->call) :
			     start_server(&end) && listens(pair)))
		return;
	IS(pair_wait(pair), 128 + SIGKILL);
	if (v->is_server) {
		OK(copythread_join(&end) < 0);
		LIKE(end.text, "copy: ");
	} else {
		IS(copythread_join(&end), 0);
		IS(end.result.broken, 1);
	}
}

static void kill_at(enum copythread_call call, bool is_server, enum stage stage)
{
	struct victim v = { call, is_server, stage };
	struct pair pair;

	place_files(call);
	pair_start(&pair, die, &v);
	if (!open_devices())
		return;
	survive(&pair, &v);
	OK(stage == RENAMED ? is_new() : is_old());
	if (stage < WRITING)		/* the receiver lives */
		IS(entries_in(call == COPYTHREAD_SEND ? root : here), 1);
	copy_again(call);
	close_devices();
}

static void kill_senders(enum copythread_call call, bool is_server)
{
	for (enum stage stage = READING; stage <= HAS_READ; stage++)
		kill_at(call, is_server, stage);
}

static void kill_receivers(enum copythread_call call, bool is_server)
{
	for (enum stage stage = WRITING; stage <= RENAMED; stage++)
		kill_at(call, is_server, stage);
}

static void a_client_is_killed_while_it_sends(void)
{
	kill_senders(COPYTHREAD_SEND, false);
}

static void a_client_is_killed_while_it_receives(void)
{
	kill_receivers(COPYTHREAD_RECEIVE, false);
}

static void a_server_is_killed_while_it_sends(void)
{
	kill_senders(COPYTHREAD_RECEIVE, true);
}

static void a_server_is_killed_while_it_receives(void)
{
	kill_receivers(COPYTHREAD_SEND, true);
}

/* Stages of the beginning, where an end by hand waits to be killed. */

static struct copyliar liar;

/* Connected; with @arg, its request was accepted. */
static int client_by_hand(struct pair *me, void *arg)
{
	struct pier__copy_msg msg;

	if (!open_devices() || !there_is_server(me) ||
	    !copyliar_connect(&liar, dev, name))
		return 1;
	if (arg) {
		msg = copyliar_hello(&liar, PIER__COPY_PUT, 0);
		msg.string[1].data = "target";
		msg.string[1].len = 6;
		copyliar_send(&liar, &msg);
		copyliar_until(&liar, PIER__COPY_WELCOME, 1);
	}
	pair_send(me, "", 1);
	for (;;)
		pause();
}

static void kill_client(bool welcome)
{
	struct copythread server;
	struct pair pair;
	char word;

	place_files(COPYTHREAD_SEND);
	pair_start(&pair, client_by_hand, welcome ? &liar : NULL);
	if (!open_devices() || !start_server(&server) || !listens(&pair))
		return;
	IS(pair_recv(&pair, &word, 1), 1);
	pair_kill(&pair);
	if (!welcome)			/* it was none */
		copythread_stop(&server);
	IS(copythread_join(&server), 0);
	IS(server.result.broken, 1);
	OK(is_old());
	copy_again(COPYTHREAD_SEND);
	close_devices();
}

static void a_client_is_killed_before_its_request(void)
{
	kill_client(false);
}

static void a_client_is_killed_when_it_was_accepted(void)
{
	kill_client(true);
}

/* With @arg, it has accepted the request. */
static int server_by_hand(struct pair *me, void *arg)
{
	if (!open_devices() || !copyliar_listen(&liar, far_dev, name) ||
	    !listens(me) || !copyliar_until(&liar, PIER__COPY_HELLO, 1))
		return 1;
	if (arg)
		copyliar_pass(&liar, PIER__COPY_WELCOME, 0, TIMEOUT_MS);
	pair_send(me, "", 1);
	for (;;)
		pause();
}

static void kill_server(bool welcome)
{
	struct copythread client;
	struct pair pair;
	char word;

	place_files(COPYTHREAD_SEND);
	pair_start(&pair, server_by_hand, welcome ? &liar : NULL);
	if (!open_devices() || !there_is_server(&pair) ||
	    !start_client(&client, COPYTHREAD_SEND))
		return;
	IS(pair_recv(&pair, &word, 1), 1);
	pair_kill(&pair);
	OK(copythread_join(&client) < 0);
	LIKE(client.text, "copy: ");
	OK(is_old());
	copy_again(COPYTHREAD_SEND);
	close_devices();
}

static void a_server_is_killed_when_it_has_the_request(void)
{
	kill_server(false);
}

static void a_server_is_killed_when_it_has_accepted(void)
{
	kill_server(true);
}

int main(void)
{
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	pier_dev_close(dev);
	snprintf(name, sizeof(name), "pier copy killed %d", getpid());
	if (!mkdtemp(base))
		return tap_skip_all("there is no directory");
	snprintf(root, sizeof(root), "%s/root", base);
	snprintf(here, sizeof(here), "%s/here", base);
	if (mkdir(root, 0700) || mkdir(here, 0700))
		return tap_skip_all("there is no directory");
	for (size_t i = 0; i < LEN; i++)
		bytes[i] = (uint8_t)(i * 7 + i / 251);
	TEST(a_client_is_killed_before_its_request);
	TEST(a_client_is_killed_when_it_was_accepted);
	TEST(a_client_is_killed_while_it_sends);
	TEST(a_client_is_killed_while_it_receives);
	TEST(a_server_is_killed_when_it_has_the_request);
	TEST(a_server_is_killed_when_it_has_accepted);
	TEST(a_server_is_killed_while_it_sends);
	TEST(a_server_is_killed_while_it_receives);
	rmdir(root);
	rmdir(here);
	rmdir(base);
	return tap_done();
}
