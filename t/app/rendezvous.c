/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cm/conn_impl.h"
#include "core/clock.h"
#include "mem/mmap_impl.h"
#include "t/lib/pair.h"
#include "t/lib/peer.h"
#include "t/lib/tap.h"

/* Meeting by descriptor files, and what may lie in their places. */

#define LEN 4096

static char dir[64];
static char requester[96], responder[96], memory[96];	/* descriptor files */
static struct pier_dev *dev;
static struct peer me;

/* The requester's arguments; the responder has the files the other way. */
static struct pier_args args_of(bool is_requester, int timeout_ms)
{
	struct pier_args args = PIER_ARGS_RENDEZVOUS;

	args.local_descriptor = is_requester ? requester : responder;
	args.remote_descriptor = is_requester ? responder : requester;
	args.memory_descriptor = memory;
	args.timeout_ms = timeout_ms;
	return args;
}

static bool begin(void)
{
	memset(&me, 0, sizeof(me));
	return IS(pier_dev_open(NULL, &dev), 0) &&
	       peer_open(&me, dev, NULL, NULL, LEN);
}

static void end(void)
{
	peer_close(&me);
	pier_dev_close(dev);
	dev = NULL;
}

static bool is_there(const char *path)
{
	return access(path, F_OK) == 0;
}

static void nothing_is_left(void)
{
	OK(!is_there(requester));
	OK(!is_there(responder));
	OK(!is_there(memory));
}

/* Exports its memory and serves; @arg: wait for a word before that. */
static int respond(struct pair *pair, void *arg)
{
	struct pier_args args = args_of(false, PEER_LIMIT_MS);
	struct pier_conn *conn = NULL;
	char word[4];

	if (arg && !OK(pair_recv(pair, word, sizeof(word)) > 0))
		return 1;
	if (!begin())
		return 1;
	memset(me.mem, 's', LEN);
	if (!IS(pier_rendezvous(me.rdma, &args, me.mmap, &conn, NULL), 0)) {
		tap_note("%s", pier_last_error());
		return 1;
	}
	IS(pier_conn_state(conn), PIER_CONN_CONNECTED);
	IS(pier_rendezvous_serve(conn), 0);
	IS(pier_conn_state(conn), PIER_CONN_RESET);
	end();
	return 0;
}

/* Meet and read; checks what was read. */
static void meet_and_read(int timeout_ms)
{
	struct pier_args args = args_of(true, timeout_ms);
	struct pier_conn *conn = NULL;
	struct pier_buf *far, *near;
	int status = -EINPROGRESS;

	if (!IS(pier_rendezvous(me.rdma, &args, NULL, &conn, &me.remote),
		0)) {
		tap_note("%s", pier_last_error());
		return;
	}
	far = peer_far_data(&me, 0, LEN);
	near = peer_tail(&me, 0, LEN);
	IS(pier_rdma_read(conn, far, near, peer_done, &status), 0);
	IS(peer_await(&status), 0);
	IS(me.mem[0], 's');
	IS(me.mem[LEN - 1], 's');
	pier_buf_put(near);
	pier_buf_put(far);
	nothing_is_left();
	pier_conn_disconnect(conn);
	peer_conn(conn, PIER_CONN_RESET);
}

static void two_programs_meet_and_leave_no_file(void)
{
	struct pair pair;

	pair_start(&pair, respond, NULL);
	if (begin())
		meet_and_read(PEER_LIMIT_MS);
	IS(pair_wait(&pair), 0);
	end();
	nothing_is_left();
}

/* From a thread: the main one waits in the rendezvous. */
static void *let_go(void *arg)
{
	long long limit = limit_from_now();

	while (!is_there(requester) && limit_nap(limit))
		;
	pair_send(arg, "go", 2);
	return NULL;
}

static void the_requester_may_be_first(void)
{
	pthread_t thread;
	struct pair pair;

	pair_start(&pair, respond, "later");
	if (begin() &&
	    IS(pthread_create(&thread, NULL, let_go, &pair), 0)) {
		meet_and_read(PEER_LIMIT_MS);
		pthread_join(thread, NULL);
	}
	IS(pair_wait(&pair), 0);
	end();
}

static void a_peer_that_does_not_come_is_reported_with_its_file(void)
{
	struct pier_args args = args_of(true, 50);
	struct pier_mmap *remote = NULL;
	struct pier_conn *conn = NULL;

	if (!begin())
		return;
	IS(pier_rendezvous(me.rdma, &args, NULL, &conn, NULL), -ETIMEDOUT);
	LIKE(pier_last_error(), responder);
	LIKE(pier_last_error(), "is the peer running");
	IS(pier_rendezvous(me.rdma, &args, NULL, &conn, &remote), -ETIMEDOUT);
	LIKE(pier_last_error(), memory);
	IS(pier_rendezvous(me.rdma, &args, me.mmap, &conn, NULL), -ETIMEDOUT);
	OK(!conn && !remote);
	nothing_is_left();
	end();
}

static void files_are_for_their_owner_only(void)
{
	struct pier_args args = args_of(false, 20000);
	long long limit = limit_from_now();
	struct stat st;
	struct pair pair;

	pair_start(&pair, respond, NULL);
	while ((!is_there(args.local_descriptor) || !is_there(memory)) &&
	       limit_nap(limit))
		;
	IS(stat(args.local_descriptor, &st), 0);
	IS(st.st_mode & 0777, 0600);
	IS(stat(memory, &st), 0);
	IS(st.st_mode & 0777, 0600);
	pair_kill(&pair);
	unlink(responder);
	unlink(memory);
}

/* Put an end that was written long ago in the responder's place. */
static bool leave_old_end(uint64_t age, uint64_t valid)
{
	uint8_t buf[PIER_DESC_MAX];
	struct pier__end old;
	int len;

	if (!peer_export(&me) ||
	    !IS(pier__end_decode(me.desc, me.desc_len, &old), 0))
		return false;
	old.created -= age;
	old.valid = valid;
	len = pier__end_encode(&old, buf, sizeof(buf));
	return OK(len > 0) &&
	       IS(pier_desc_write(responder, buf, (size_t)len), 0);
}

static void a_file_older_than_its_writer_s_patience_is_refused(void)
{
	struct pier_args args = args_of(true, 50);
	struct pier_conn *conn = NULL;

	if (!begin() || !leave_old_end(100, 60))
		return;
	IS(pier_rendezvous(me.rdma, &args, NULL, &conn, NULL), -ETIMEDOUT);
	LIKE(pier_last_error(), " s old and was valid for 60 s");
	OK(is_there(responder));	/* not ours to consume */
	unlink(responder);
	end();
}

static void a_fresh_file_takes_the_place_of_an_old_one(void)
{
	pthread_t thread;
	struct pair pair;

	pair_start(&pair, respond, "later");
	if (begin() && leave_old_end(100, 60) &&
	    IS(pthread_create(&thread, NULL, let_go, &pair), 0)) {
		meet_and_read(PEER_LIMIT_MS);
		pthread_join(thread, NULL);
	}
	IS(pair_wait(&pair), 0);
	end();
}

/* The files of a run that died within its time look good. */
static void a_newer_file_takes_the_place_of_a_dead_run_s(void)
{
	long long limit = limit_from_now();
	struct pair dead, pair;
	pthread_t thread;

	pair_start(&dead, respond, NULL);
	while ((!is_there(responder) || !is_there(memory)) &&
	       limit_nap(limit))
		;
	pair_kill(&dead);
	pair_start(&pair, respond, "later");
	if (begin() &&
	    IS(pthread_create(&thread, NULL, let_go, &pair), 0)) {
		meet_and_read(PEER_LIMIT_MS);
		pthread_join(thread, NULL);
	}
	IS(pair_wait(&pair), 0);
	end();
}

static bool write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	if (!OK(file))
		return false;
	fputs(text, file);
	return IS(fclose(file), 0);
}

static void damaged_files_are_reported_as_such(void)
{
	struct pier_args args = args_of(true, 3000);
	struct pier_conn *conn = NULL;

	if (!begin() || !write_file(responder, "pier, but not quite so"))
		return;
	IS(pier_rendezvous(me.rdma, &args, NULL, &conn, NULL), -PIER_EDESC);
	OK(!conn);
	unlink(responder);
	end();
}

static void a_file_of_another_kind_is_reported_as_such(void)
{
	struct pier_args args = args_of(true, 3000);
	struct pier_conn *conn = NULL;
	const void *desc;
	size_t len;

	if (!begin() || !IS(pier_mmap_export(me.mmap, &desc, &len), 0) ||
	    !IS(pier_desc_write(responder, desc, len), 0))
		return;
	IS(pier_rendezvous(me.rdma, &args, NULL, &conn, NULL), -PIER_EKIND);
	OK(!conn);
	unlink(responder);
	end();
}

static void a_place_that_cannot_be_written_is_reported(void)
{
	struct pier_args args = args_of(true, 3000);
	struct pier_conn *conn = NULL;

	if (!begin())
		return;
	args.local_descriptor = "/nowhere/to/be/found";
	IS(pier_rendezvous(me.rdma, &args, NULL, &conn, NULL), -ENOENT);
	LIKE(pier_last_error(), "/nowhere/to/be/found");
	end();
}

static void a_place_that_is_no_file_stays_as_it_is(void)
{
	struct pier_args args = args_of(true, 3000);
	struct pier_conn *conn = NULL;
	struct stat st;

	if (!begin())
		return;
	IS(mkfifo(args.local_descriptor, 0600), 0);
	IS(pier_rendezvous(me.rdma, &args, NULL, &conn, NULL), -EINVAL);
	LIKE(pier_last_error(), args.local_descriptor);
	if (IS(stat(args.local_descriptor, &st), 0))
		OK(S_ISFIFO(st.st_mode));
	unlink(args.local_descriptor);
	end();
}

static void a_context_that_is_not_running_meets_no_peer(void)
{
	struct pier_args args = args_of(true, 50);
	struct pier_conn *conn = NULL;

	if (!begin())
		return;
	IS(pier_ctx_stop_wait(pier_rdma_ctx(me.rdma), PEER_LIMIT_MS), 0);
	IS(pier_rendezvous(me.rdma, &args, NULL, &conn, NULL), -ESHUTDOWN);
	nothing_is_left();
	end();
}

/* Serves until its peer is gone, however it goes. */
static int die(struct pair *pair, void *arg)
{
	struct pier_args args = args_of(true, PEER_LIMIT_MS);
	struct pier_conn *conn;

	(void)arg;
	if (!begin() ||
	    !IS(pier_rendezvous(me.rdma, &args, NULL, &conn, NULL), 0))
		return 1;
	OK(pair_send(pair, "ok", 2));
	peer_serve();
}

static void serving_ends_when_the_peer_dies(void)
{
	struct pier_rdma_config cfg = { .size = sizeof(cfg),
					.keepalive_ms = 100 };
	struct pier_args args = args_of(false, PEER_LIMIT_MS);
	struct pier_conn *conn = NULL;
	struct pair pair;
	char word[4];

	pair_start(&pair, die, NULL);
	memset(&me, 0, sizeof(me));
	if (IS(pier_dev_open(NULL, &dev), 0) &&
	    peer_open(&me, dev, NULL, &cfg, LEN) &&
	    IS(pier_rendezvous(me.rdma, &args, NULL, &conn, NULL), 0)) {
		OK(pair_recv(&pair, word, sizeof(word)) == 2);
		pair_kill(&pair);
		IS(pier_rendezvous_serve(conn), -PIER_ERETRY);
		LIKE(pier_last_error(), "does not answer");
	}
	end();
}

/* Connection @arg of several, until the test ends it. */
static int one_of_several(struct pair *pair, void *arg)
{
	struct pier_args args = args_of(true, PEER_LIMIT_MS);
	char local[112], remote[112], word[4];
	struct pier_conn *conn;

	snprintf(local, sizeof(local), "%s-%04d", requester, *(int *)arg);
	snprintf(remote, sizeof(remote), "%s-%04d", responder, *(int *)arg);
	args.local_descriptor = local;
	args.remote_descriptor = remote;
	if (!begin() ||
	    !IS(pier_rendezvous(me.rdma, &args, NULL, &conn, NULL), 0))
		return 1;
	OK(pair_send(pair, "ok", 2));
	OK(pair_recv(pair, word, sizeof(word)) == 2);
	pier_conn_disconnect(conn);
	peer_conn(conn, PIER_CONN_RESET);
	end();
	return 0;
}

static void let_the_other_leave(struct pier_conn *conn,
				enum pier_conn_state prev,
				enum pier_conn_state next, void *user_data)
{
	(void)conn;
	(void)prev;
	if (next == PIER_CONN_ERROR)
		pair_send(user_data, "go", 2);
}

static void serving_several_goes_on_when_one_peer_dies(void)
{
	struct pier_rdma_config cfg = { .size = sizeof(cfg),
					.keepalive_ms = 100 };
	struct pier_args args = args_of(false, PEER_LIMIT_MS);
	struct pier_conn *conns[2] = { NULL };
	struct pair pairs[2];
	int index[2] = { 0, 1 }, i;
	char word[4];

	for (i = 0; i < 2; i++)
		pair_start(&pairs[i], one_of_several, &index[i]);
	memset(&me, 0, sizeof(me));
	if (IS(pier_dev_open(NULL, &dev), 0) &&
	    peer_open(&me, dev, NULL, &cfg, LEN) &&
	    IS(pier_rendezvous_many(me.rdma, &args, 2, conns), 0)) {
		for (i = 0; i < 2; i++)
			OK(pair_recv(&pairs[i], word, sizeof(word)) == 2);
		pier_conn_set_user_data(conns[0], &pairs[1]);
		pier_conn_set_state_changed(conns[0],
					    let_the_other_leave);
		pair_kill(&pairs[0]);
		IS(pier_rendezvous_serve_many(conns, 2), -PIER_ERETRY);
		LIKE(pier_last_error(), "does not answer");
		IS(pier_conn_state(conns[1]), PIER_CONN_RESET);
	}
	IS(pair_wait(&pairs[1]), 0);
	end();
}

/* Root may take anything away; a directory in its place does not yield. */
static void a_descriptor_that_cannot_be_read_is_reported(void)
{
	struct pier_args args = args_of(true, 2000);
	struct pier_conn *conn;

	if (!begin())
		return;
	args.remote_descriptor = dir;
	OK(pier_rendezvous(me.rdma, &args, NULL, &conn, NULL) < 0);
	LIKE(pier_last_error(), dir);
	end();
}

static void the_same_path_for_both_ends_is_refused(void)
{
	struct pier_args args = args_of(true, 2000);
	struct pier_conn *conn;

	if (!begin())
		return;
	args.remote_descriptor = args.local_descriptor;
	IS(pier_rendezvous(me.rdma, &args, NULL, &conn, NULL), -EINVAL);
	LIKE(pier_last_error(), args.local_descriptor);
	args.remote_descriptor = NULL;
	IS(pier_rendezvous(me.rdma, &args, NULL, &conn, NULL), -EINVAL);
	LIKE(pier_last_error(), "no remote_descriptor");
	IS(pier_rendezvous_many(me.rdma, &args, 1, &conn), -EINVAL);
	LIKE(pier_last_error(), "no remote_descriptor");
	end();
}

int main(void)
{
	snprintf(dir, sizeof(dir), "/tmp/pier-rendezvous-XXXXXX");
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	pier_dev_close(dev);	/* peers are forked before it is opened */
	if (!mkdtemp(dir))
		return tap_skip_all("no temporary directory");
	snprintf(requester, sizeof(requester), "%s/requester", dir);
	snprintf(responder, sizeof(responder), "%s/responder", dir);
	snprintf(memory, sizeof(memory), "%s/memory", dir);
	TEST(two_programs_meet_and_leave_no_file);
	TEST(the_requester_may_be_first);
	TEST(a_peer_that_does_not_come_is_reported_with_its_file);
	TEST(files_are_for_their_owner_only);
	TEST(a_file_older_than_its_writer_s_patience_is_refused);
	TEST(a_fresh_file_takes_the_place_of_an_old_one);
	TEST(a_newer_file_takes_the_place_of_a_dead_run_s);
	TEST(damaged_files_are_reported_as_such);
	TEST(a_file_of_another_kind_is_reported_as_such);
	TEST(a_place_that_cannot_be_written_is_reported);
	TEST(a_place_that_is_no_file_stays_as_it_is);
	TEST(a_context_that_is_not_running_meets_no_peer);
	TEST(serving_ends_when_the_peer_dies);
	TEST(serving_several_goes_on_when_one_peer_dies);
	TEST(the_same_path_for_both_ends_is_refused);
	TEST(a_descriptor_that_cannot_be_read_is_reported);
	rmdir(dir);
	return tap_done();
}
