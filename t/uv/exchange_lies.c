/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <pier/error.h>
#include <pier/exchange.h>

#include "core/wire.h"
#include "t/lib/liar.h"
#include "t/lib/tap.h"

/* pier_exchange() in a thread, against a peer that is not what it should be. */

#define VERSION_AT 5	/* in a frame; its low byte */

static char base[] = "/tmp/pier-lies.XXXXXX";
static char in_dir[64], big_path[64], *big_file[1] = { big_path };

static struct pier_exchange_config cfg;
static pthread_t thread;
static int port_pipe[2];
static unsigned int port;
static int result;
static char reason[512];

static void on_listening(unsigned int at, void *arg)
{
	(void)arg;
	OK(write(port_pipe[1], &at, sizeof(at)) == sizeof(at));
}

static void *exchange(void *arg)
{
	(void)arg;
	result = pier_exchange(&cfg);
	snprintf(reason, sizeof(reason), "%s",
		 result < 0 ? pier_last_error() : "");
	return NULL;
}

/* Connect to the honest side. */
static void dial(void)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
		.sin_port = htons((uint16_t)port),
	};

	liar.sock = socket(AF_INET, SOCK_STREAM, 0);
	IS(connect(liar.sock, (struct sockaddr *)&addr, sizeof(addr)), 0);
	liar.len = 0;
}

/* The honest side listens with @timeout_ms; we have connected. */
static void meet(int timeout_ms, bool receive, bool big)
{
	cfg = (struct pier_exchange_config){
		.size = sizeof(cfg),
		.role = PIER_EXCHANGE_LISTEN,
		.address = "127.0.0.1:0",
		.send = (const char *const *)big_file,
		.send_count = big,
		.receive = receive ? in_dir : NULL,
		.timeout_ms = timeout_ms,
		.listening = on_listening,
	};
	IS(pthread_create(&thread, NULL, exchange, NULL), 0);
	OK(read(port_pipe[0], &port, sizeof(port)) == sizeof(port));
	dial();
}

static void part(void)
{
	close(liar.sock);
	liar.sock = -1;
	IS(pthread_join(thread, NULL), 0);
}

/* How many files there are; they are removed. */
static int entries(void)
{
	char path[512];
	struct dirent *entry;
	DIR *d = opendir(in_dir);
	int count = 0;

	while (d && (entry = readdir(d))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		snprintf(path, sizeof(path), "%s/%s", in_dir, entry->d_name);
		unlink(path);
		count++;
	}
	if (d)
		closedir(d);
	return count;
}

/* What was sent is refused as -EPROTO with @part, and a frame reports it. */
static void is_refused(const char *part_of_it)
{
	liar_send();
	if (OK(liar_recv_until(LIAR_FAILED)))
		LIKE(liar.text, part_of_it);
	part();
	IS(result, -EPROTO);
	LIKE(reason, part_of_it);
	IS(entries(), 0);
}

/* What an honest peer does after its files; it announces @files. */
static void finish(uint64_t files)
{
	liar_add(LIAR_DONE, 0, NULL, 0);
	liar_send();
	OK(liar_recv_until(LIAR_DONE));
	liar_add(LIAR_STORED, files, NULL, 0);
	liar_send();
	IS(shutdown(liar.sock, SHUT_WR), 0);
	OK(liar_recv_until(LIAR_STORED));
	part();
}

static void an_honest_peer_is_believed(void)
{
	meet(20000, true, false);
	liar_add(LIAR_HELLO, 2, NULL, 0);
	liar_add_file("empty", 0);
	liar_add_file("full", 3000);
	liar_add_data(1000);
	liar_add_data(2000);
	finish(0);
	IS(liar.number, 2);
	IS(result, 2);
	IS(entries(), 2);
}

/* It closes before it has received the last frame. */
static void a_peer_may_leave_as_soon_as_all_is_stored(void)
{
	meet(20000, true, false);
	liar_add(LIAR_HELLO, 0, NULL, 0);
	liar_add(LIAR_DONE, 0, NULL, 0);
	liar_send();
	OK(liar_recv_until(LIAR_STORED));
	liar_add(LIAR_STORED, 0, NULL, 0);
	liar_send();
	part();
	IS(result, 0);
}

static void a_damaged_frame_is_refused(void)
{
	meet(20000, true, false);
	liar_add(LIAR_HELLO, 1, NULL, 0);
	liar_add_file("a", 10);
	liar.out[liar.len - 1] ^= 1;
	is_refused("protocol");
}

static void another_version_is_refused_by_its_number(void)
{
	size_t at;

	meet(20000, true, false);
	liar_add(LIAR_HELLO, 1, NULL, 0);
	at = liar.len;
	liar_add_file("a", 10);
	liar.out[at + VERSION_AT] = 77;
	liar_put_crc(liar.out + at, liar.len - at);
	is_refused("version 77");
}

static void a_frame_longer_than_any_is_refused_at_its_head(void)
{
	uint8_t head[PIER__WIRE_HEAD] = { 'p', 'i', 'e', 'r', 0, 1, 0, 3,
					  0xff, 0xff, 0xff, 0xff };

	meet(20000, true, false);
	liar_add(LIAR_HELLO, 1, NULL, 0);
	memcpy(liar.out + liar.len, head, sizeof(head));
	liar.len += sizeof(head);
	is_refused("4294967311");
}

static void a_data_frame_beyond_its_bound_is_refused(void)
{
	meet(20000, true, false);
	liar_add(LIAR_HELLO, 1, NULL, 0);
	liar_add_file("a", 40 * 1024);
	liar_add_data(40 * 1024);
	is_refused("protocol");
}

static void an_unknown_type_is_refused(void)
{
	meet(20000, true, false);
	liar_add(LIAR_HELLO, 0, NULL, 0);
	liar_add(7, 0, NULL, 0);
	is_refused("protocol");
}

/* Each row is one frame after hello, and a part of the error message. */
static void frames_out_of_turn_are_refused(void)
{
	static const struct {
		int type;
		uint64_t number;
		const char *part;
	} rows[] = {
		{ LIAR_HELLO, 1, "out of order" },
		{ LIAR_DATA, 0, "bytes of data" },
		{ LIAR_DONE, 0, "0 of 1 files" },
		{ LIAR_STORED, 0, "out of order" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		meet(20000, true, false);
		liar_add(LIAR_HELLO, 1, NULL, 0);
		liar_add(rows[i].type, rows[i].number, "x",
			 rows[i].type == LIAR_DATA);
		is_refused(rows[i].part);
	}
}

static void done_is_sent_once(void)
{
	meet(20000, true, true);
	liar_add(LIAR_HELLO, 0, NULL, 0);
	liar_add(LIAR_DONE, 0, NULL, 0);
	liar_add(LIAR_DONE, 0, NULL, 0);
	is_refused("out of order");
}

static void stored_must_count_what_was_sent(void)
{
	meet(20000, true, true);
	liar_add(LIAR_HELLO, 0, NULL, 0);
	liar_add(LIAR_DONE, 0, NULL, 0);
	liar_send();
	OK(liar_recv_until(LIAR_DONE));
	liar_add(LIAR_STORED, 2, NULL, 0);
	is_refused("stored 2 files of 1");
}

static void a_file_within_a_file_is_refused(void)
{
	meet(20000, true, false);
	liar_add(LIAR_HELLO, 2, NULL, 0);
	liar_add_file("a", 10);
	liar_add_file("b", 10);
	is_refused("the previous one ends");
}

static void a_file_beyond_those_announced_is_refused(void)
{
	meet(20000, true, false);
	liar_add(LIAR_HELLO, 0, NULL, 0);
	liar_add_file("a", 10);
	is_refused("exceeds the 0");
}

static void more_files_than_are_allowed_are_refused(void)
{
	meet(20000, true, false);
	liar_add(LIAR_HELLO, PIER_EXCHANGE_FILES_MAX + 1, NULL, 0);
	is_refused("65 files");
}

static void files_that_were_not_requested_are_refused(void)
{
	meet(20000, false, false);
	liar_add(LIAR_HELLO, 1, NULL, 0);
	is_refused("no directory");
}

static void a_file_too_big_is_refused_before_it_comes(void)
{
	meet(20000, true, false);
	liar_add(LIAR_HELLO, 1, NULL, 0);
	liar_add_file("a", (uint64_t)PIER_EXCHANGE_FILE_MAX + 1);
	is_refused("16777217 bytes");
	meet(20000, true, false);
	liar_add(LIAR_HELLO, 1, NULL, 0);
	liar_add_file("a", UINT64_MAX);
	is_refused("18446744073709551615 bytes");
}

static void data_beyond_the_size_is_refused(void)
{
	meet(20000, true, false);
	liar_add(LIAR_HELLO, 1, NULL, 0);
	liar_add_file("a", 10);
	liar_add_data(8);
	liar_add_data(3);
	is_refused("3 bytes of data where 2 remain");
}

static void data_without_bytes_is_refused(void)
{
	meet(20000, true, false);
	liar_add(LIAR_HELLO, 1, NULL, 0);
	liar_add_file("a", 10);
	liar_add_data(0);
	is_refused("0 bytes of data");
}

static void names_that_are_no_plain_file_names_are_refused(void)
{
	static char longest[PIER_EXCHANGE_NAME_MAX + 2];
	static const struct {
		const char *name;
		size_t len;
	} rows[] = {
		{ "", 0 }, { ".", 1 }, { "..", 2 }, { "../x", 4 },
		{ "a/b", 3 }, { "/a", 2 }, { "a/", 2 }, { ".hidden", 7 },
		{ "a\0b", 3 }, { "a\nb", 3 }, { "\033[2J", 4 },
		{ "a\177", 2 }, { "a\302\233", 3 }, { longest, sizeof(longest) - 1 },
	};

	memset(longest, 'x', sizeof(longest) - 1);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		meet(20000, true, false);
		liar_add(LIAR_HELLO, 1, NULL, 0);
		liar_add(LIAR_FILE, 4, rows[i].name, rows[i].len);
		liar_add_data(4);
		is_refused("not a plain file name");
		OK(!strpbrk(reason, "\033\n\177"));
	}
}

static void the_longest_name_is_stored(void)
{
	char longest[PIER_EXCHANGE_NAME_MAX + 1] = "";

	memset(longest, 'x', sizeof(longest) - 1);
	meet(20000, true, false);
	liar_add(LIAR_HELLO, 1, NULL, 0);
	liar_add_file(longest, 0);
	finish(0);
	IS(result, 1);
	IS(entries(), 1);
}

static void the_same_name_twice_is_refused(void)
{
	meet(20000, true, false);
	liar_add(LIAR_HELLO, 2, NULL, 0);
	liar_add_file("a", 0);
	liar_add_file("a", 10);
	liar_send();
	if (OK(liar_recv_until(LIAR_FAILED)))
		LIKE(liar.text, "two files of the name \"a\"");
	part();
	IS(result, -EPROTO);
	IS(entries(), 0);
}

static void a_peer_that_stalls_is_given_up(void)
{
	meet(300, true, false);
	liar_add(LIAR_HELLO, 1, NULL, 0);
	liar_add_file("a", 10);
	liar_send();
	liar_recv_until(0);
	part();
	IS(result, -ETIMEDOUT);
	LIKE(reason, "nothing from the peer for 300 ms");
	IS(entries(), 0);
}

static void a_stream_cut_off_is_reported_and_leaves_no_file(void)
{
	size_t len;

	meet(20000, true, false);
	liar_add(LIAR_HELLO, 1, NULL, 0);
	liar_add_file("a", 1000);
	liar_add_data(500);
	liar_send();
	IS(shutdown(liar.sock, SHUT_WR), 0);
	liar_recv_until(0);
	part();
	IS(result, -ECONNRESET);
	LIKE(reason, "before all files were exchanged");
	IS(entries(), 0);

	meet(20000, true, false);
	liar_add(LIAR_HELLO, 1, NULL, 0);
	liar_add_file("a", 1000);
	len = liar.len;
	liar_add_data(1000);
	liar.len = len + (liar.len - len) / 2;
	liar_send();
	part();
	IS(result, -ECONNRESET);
	IS(entries(), 0);
}

static const char *path_in(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", in_dir, name);
	return path;
}

static void a_file_is_replaced_when_all_have_arrived(void)
{
	FILE *file = fopen(path_in("a"), "w");
	struct stat st;

	OK(file && fputs("old", file) >= 0);
	if (file)
		fclose(file);
	meet(20000, true, false);
	liar_add(LIAR_HELLO, 2, NULL, 0);
	liar_add_file("a", 1000);
	liar_add_data(1000);
	liar_add_file("b", 1000);
	liar_send();
	IS(shutdown(liar.sock, SHUT_WR), 0);
	liar_recv_until(0);
	part();
	IS(result, -ECONNRESET);
	OK(!stat(path_in("a"), &st) && st.st_size == 3);
	IS(entries(), 1);
}

static void a_directory_of_that_name_is_reported_to_both(void)
{
	IS(mkdir(path_in("a"), 0700), 0);
	meet(20000, true, false);
	liar_add(LIAR_HELLO, 1, NULL, 0);
	liar_add_file("a", 1000);
	liar_add_data(1000);
	liar_send();
	if (OK(liar_recv_until(LIAR_FAILED)))
		LIKE(liar.text, "is a directory");
	part();
	IS(result, -EISDIR);
	IS(rmdir(path_in("a")), 0);
	IS(entries(), 0);
}

static void the_message_of_the_peer_is_printed_without_its_tricks(void)
{
	static const char trick[] = "no \033]0;x\007 room\n";

	meet(20000, true, false);
	liar_add(LIAR_HELLO, 1, NULL, 0);
	liar_add(LIAR_FAILED, 0, trick, sizeof(trick) - 1);
	liar_send();
	liar_recv_until(0);
	part();
	IS(result, -EREMOTEIO);
	LIKE(reason, "the peer has given up: no ?]0;x? room?");
}

/* A frame of its file is half written, as we have not read any. */
static void the_reason_comes_behind_what_is_being_written(void)
{
	meet(20000, true, true);
	liar_add(LIAR_HELLO, 0, NULL, 0);
	liar_add(LIAR_HELLO, 0, NULL, 0);
	is_refused("out of order");
}

static void a_liar_that_does_not_read_delays_no_peer(void)
{
	meet(20000, true, true);
	liar_add(LIAR_HELLO, 0, NULL, 0);
	liar_add(LIAR_HELLO, 0, NULL, 0);
	liar_send();
	IS(pthread_join(thread, NULL), 0);
	close(liar.sock);
	liar.sock = -1;
	IS(result, -EPROTO);
}

/* The peer receives nothing and is disconnected. */
static void is_dropped(void)
{
	liar_send();
	shutdown(liar.sock, SHUT_WR);
	IS(liar_recv(), 0);
	close(liar.sock);
	dial();
}

static void strangers_are_sent_nothing_and_waited_past(void)
{
	meet(20000, true, true);
	memcpy(liar.out, "GET / HTTP/1.1\r\n\r\n", liar.len = 18);
	is_dropped();
	is_dropped();			/* sends nothing at all */
	memcpy(liar.out, "pie", liar.len = 3);
	is_dropped();
	liar_add_file("a", 10);
	is_dropped();
	liar_add(LIAR_FAILED, 0, "x", 1);
	is_dropped();
	liar_add(LIAR_HELLO, 0, NULL, 0);
	finish(1);
	IS(result, 0);
}

static void a_stranger_who_only_waits_is_replaced_by_a_peer(void)
{
	int stranger;

	meet(20000, true, false);
	stranger = liar.sock;
	dial();
	liar_add(LIAR_HELLO, 0, NULL, 0);
	finish(0);
	close(stranger);
	IS(result, 0);
}

static void strangers_do_not_stretch_the_time(void)
{
	meet(300, true, false);
	is_dropped();
	IS(pthread_join(thread, NULL), 0);
	close(liar.sock);
	liar.sock = -1;
	IS(result, -ETIMEDOUT);
	LIKE(reason, "no peer within 300 ms");
}

/* We listen, and the honest side connects; @add_it is what we send. */
static void serve(const char *add_it)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t len = sizeof(addr);
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	char address[32];

	IS(bind(listener, (struct sockaddr *)&addr, sizeof(addr)), 0);
	IS(listen(listener, 1), 0);
	IS(getsockname(listener, (struct sockaddr *)&addr, &len), 0);
	snprintf(address, sizeof(address), "127.0.0.1:%u",
		 ntohs(addr.sin_port));
	cfg = (struct pier_exchange_config){
		.size = sizeof(cfg),
		.role = PIER_EXCHANGE_CONNECT,
		.address = address,
		.timeout_ms = 20000,
	};
	IS(pthread_create(&thread, NULL, exchange, NULL), 0);
	liar.sock = accept(listener, NULL, NULL);
	OK(liar.sock >= 0);
	memcpy(liar.out, add_it, liar.len = strlen(add_it));
	liar_send();
	shutdown(liar.sock, SHUT_WR);
	liar_recv_until(0);
	part();
	close(listener);
}

static void a_server_of_another_kind_is_refused(void)
{
	serve("220 smtp.example.org ESMTP ready\r\n");
	IS(result, -EPROTO);
	LIKE(reason, "does not begin with \"pier\"");
	serve("");
	IS(result, -ECONNRESET);
}

static bool set_up(void)
{
	FILE *file;

	if (!mkdtemp(base) || pipe(port_pipe))
		return false;
	snprintf(in_dir, sizeof(in_dir), "%s/in", base);
	snprintf(big_path, sizeof(big_path), "%s/big", base);
	file = fopen(big_path, "w");
	if (!file || ftruncate(fileno(file), PIER_EXCHANGE_FILE_MAX))
		return false;
	return fclose(file) == 0;
}

static void a_role_that_there_is_not_is_refused(void)
{
	struct pier_exchange_config none = {
		.size = sizeof(none), .role = (enum pier_exchange_role)9,
		.timeout_ms = 1,
	};

	IS(pier_exchange(&none), -EINVAL);
	IS_STR(pier_last_error(), "exchange: role 9: 0 to 2");
}

int main(void)
{
	if (!set_up())
		return tap_skip_all("no room in /tmp");
	TEST(a_role_that_there_is_not_is_refused);
	TEST(an_honest_peer_is_believed);
	TEST(a_peer_may_leave_as_soon_as_all_is_stored);
	TEST(a_damaged_frame_is_refused);
	TEST(another_version_is_refused_by_its_number);
	TEST(a_frame_longer_than_any_is_refused_at_its_head);
	TEST(a_data_frame_beyond_its_bound_is_refused);
	TEST(an_unknown_type_is_refused);
	TEST(frames_out_of_turn_are_refused);
	TEST(done_is_sent_once);
	TEST(stored_must_count_what_was_sent);
	TEST(a_file_within_a_file_is_refused);
	TEST(a_file_beyond_those_announced_is_refused);
	TEST(more_files_than_are_allowed_are_refused);
	TEST(files_that_were_not_requested_are_refused);
	TEST(a_file_too_big_is_refused_before_it_comes);
	TEST(data_beyond_the_size_is_refused);
	TEST(data_without_bytes_is_refused);
	TEST(names_that_are_no_plain_file_names_are_refused);
	TEST(the_longest_name_is_stored);
	TEST(the_same_name_twice_is_refused);
	TEST(a_peer_that_stalls_is_given_up);
	TEST(a_stream_cut_off_is_reported_and_leaves_no_file);
	TEST(a_file_is_replaced_when_all_have_arrived);
	TEST(a_directory_of_that_name_is_reported_to_both);
	TEST(the_message_of_the_peer_is_printed_without_its_tricks);
	TEST(the_reason_comes_behind_what_is_being_written);
	TEST(a_liar_that_does_not_read_delays_no_peer);
	TEST(strangers_are_sent_nothing_and_waited_past);
	TEST(a_stranger_who_only_waits_is_replaced_by_a_peer);
	TEST(strangers_do_not_stretch_the_time);
	TEST(a_server_of_another_kind_is_refused);
	unlink(big_path);
	rmdir(in_dir);
	rmdir(base);
	return tap_done();
}
