/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <pier/error.h>
#include <pier/exchange.h>

#include "core/wire.h"
#include "t/lib/honest.h"
#include "t/lib/liar.h"
#include "t/lib/tap.h"

/* pier_exchange() in a thread, against a peer that is not what it should be. */

#define VERSION_AT 5	/* in a frame; its low byte */

static void an_honest_peer_is_believed(void)
{
	honest_meet(20000, true, false);
	liar_add(LIAR_HELLO, 2, NULL, 0);
	liar_add_file("empty", 0);
	liar_add_file("full", 3000);
	liar_add_data(1000);
	liar_add_data(2000);
	honest_finish(0);
	IS(liar.number, 2);
	IS(honest.result, 2);
	IS(honest_entries(), 2);
}

/* It closes before it has received the last frame. */
static void a_peer_may_leave_as_soon_as_all_is_stored(void)
{
	honest_meet(20000, true, false);
	liar_add(LIAR_HELLO, 0, NULL, 0);
	liar_add(LIAR_DONE, 0, NULL, 0);
	liar_send();
	OK(liar_recv_until(LIAR_STORED));
	liar_add(LIAR_STORED, 0, NULL, 0);
	liar_send();
	honest_part();
	IS(honest.result, 0);
}

static void a_damaged_frame_is_refused(void)
{
	honest_meet(20000, true, false);
	liar_add(LIAR_HELLO, 1, NULL, 0);
	liar_add_file("a", 10);
	liar.out[liar.len - 1] ^= 1;
	honest_refuses("protocol");
}

static void another_version_is_refused_by_its_number(void)
{
	size_t at;

	honest_meet(20000, true, false);
	liar_add(LIAR_HELLO, 1, NULL, 0);
	at = liar.len;
	liar_add_file("a", 10);
	liar.out[at + VERSION_AT] = 77;
	liar_put_crc(liar.out + at, liar.len - at);
	honest_refuses("version 77");
}

static void a_frame_longer_than_any_is_refused_at_its_head(void)
{
	uint8_t head[PIER__WIRE_HEAD] = { 'p', 'i', 'e', 'r', 0, 1, 0, 3,
					  0xff, 0xff, 0xff, 0xff };

	honest_meet(20000, true, false);
	liar_add(LIAR_HELLO, 1, NULL, 0);
	memcpy(liar.out + liar.len, head, sizeof(head));
	liar.len += sizeof(head);
	honest_refuses("4294967311");
}

static void a_data_frame_beyond_its_bound_is_refused(void)
{
	honest_meet(20000, true, false);
	liar_add(LIAR_HELLO, 1, NULL, 0);
	liar_add_file("a", 40 * 1024);
	liar_add_data(40 * 1024);
	honest_refuses("protocol");
}

static void an_unknown_type_is_refused(void)
{
	honest_meet(20000, true, false);
	liar_add(LIAR_HELLO, 0, NULL, 0);
	liar_add(7, 0, NULL, 0);
	honest_refuses("protocol");
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
		honest_meet(20000, true, false);
		liar_add(LIAR_HELLO, 1, NULL, 0);
		liar_add(rows[i].type, rows[i].number, "x",
			 rows[i].type == LIAR_DATA);
		honest_refuses(rows[i].part);
	}
}

static void done_is_sent_once(void)
{
	honest_meet(20000, true, true);
	liar_add(LIAR_HELLO, 0, NULL, 0);
	liar_add(LIAR_DONE, 0, NULL, 0);
	liar_add(LIAR_DONE, 0, NULL, 0);
	honest_refuses("out of order");
}

static void stored_must_count_what_was_sent(void)
{
	honest_meet(20000, true, true);
	liar_add(LIAR_HELLO, 0, NULL, 0);
	liar_add(LIAR_DONE, 0, NULL, 0);
	liar_send();
	OK(liar_recv_until(LIAR_DONE));
	liar_add(LIAR_STORED, 2, NULL, 0);
	honest_refuses("stored 2 files of 1");
}

static void a_file_within_a_file_is_refused(void)
{
	honest_meet(20000, true, false);
	liar_add(LIAR_HELLO, 2, NULL, 0);
	liar_add_file("a", 10);
	liar_add_file("b", 10);
	honest_refuses("the previous one ends");
}

static void a_file_beyond_those_announced_is_refused(void)
{
	honest_meet(20000, true, false);
	liar_add(LIAR_HELLO, 0, NULL, 0);
	liar_add_file("a", 10);
	honest_refuses("exceeds the 0");
}

static void more_files_than_are_allowed_are_refused(void)
{
	honest_meet(20000, true, false);
	liar_add(LIAR_HELLO, PIER_EXCHANGE_FILES_MAX + 1, NULL, 0);
	honest_refuses("65 files");
}

static void files_that_were_not_requested_are_refused(void)
{
	honest_meet(20000, false, false);
	liar_add(LIAR_HELLO, 1, NULL, 0);
	honest_refuses("no directory");
}

static void a_file_too_big_is_refused_before_it_comes(void)
{
	honest_meet(20000, true, false);
	liar_add(LIAR_HELLO, 1, NULL, 0);
	liar_add_file("a", (uint64_t)PIER_EXCHANGE_FILE_MAX + 1);
	honest_refuses("16777217 bytes");
	honest_meet(20000, true, false);
	liar_add(LIAR_HELLO, 1, NULL, 0);
	liar_add_file("a", UINT64_MAX);
	honest_refuses("18446744073709551615 bytes");
}

static void data_beyond_the_size_is_refused(void)
{
	honest_meet(20000, true, false);
	liar_add(LIAR_HELLO, 1, NULL, 0);
	liar_add_file("a", 10);
	liar_add_data(8);
	liar_add_data(3);
	honest_refuses("3 bytes of data where 2 remain");
}

static void data_without_bytes_is_refused(void)
{
	honest_meet(20000, true, false);
	liar_add(LIAR_HELLO, 1, NULL, 0);
	liar_add_file("a", 10);
	liar_add_data(0);
	honest_refuses("0 bytes of data");
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
		{ "a\177", 2 }, { "a\302\233", 3 },
		{ longest, sizeof(longest) - 1 },
	};

	memset(longest, 'x', sizeof(longest) - 1);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		honest_meet(20000, true, false);
		liar_add(LIAR_HELLO, 1, NULL, 0);
		liar_add(LIAR_FILE, 4, rows[i].name, rows[i].len);
		liar_add_data(4);
		honest_refuses("not a plain file name");
		OK(!strpbrk(honest.reason, "\033\n\177"));
	}
}

static void the_longest_name_is_stored(void)
{
	char longest[PIER_EXCHANGE_NAME_MAX + 1] = "";

	memset(longest, 'x', sizeof(longest) - 1);
	honest_meet(20000, true, false);
	liar_add(LIAR_HELLO, 1, NULL, 0);
	liar_add_file(longest, 0);
	honest_finish(0);
	IS(honest.result, 1);
	IS(honest_entries(), 1);
}

static void the_same_name_twice_is_refused(void)
{
	honest_meet(20000, true, false);
	liar_add(LIAR_HELLO, 2, NULL, 0);
	liar_add_file("a", 0);
	liar_add_file("a", 10);
	liar_send();
	if (OK(liar_recv_until(LIAR_FAILED)))
		LIKE(liar.text, "two files of the name \"a\"");
	honest_part();
	IS(honest.result, -EPROTO);
	IS(honest_entries(), 0);
}

static void a_peer_that_stalls_is_given_up(void)
{
	honest_meet(300, true, false);
	liar_add(LIAR_HELLO, 1, NULL, 0);
	liar_add_file("a", 10);
	liar_send();
	liar_recv_until(0);
	honest_part();
	IS(honest.result, -ETIMEDOUT);
	LIKE(honest.reason, "nothing from the peer for 300 ms");
	IS(honest_entries(), 0);
}

static void a_stream_cut_off_is_reported_and_leaves_no_file(void)
{
	size_t len;

	honest_meet(20000, true, false);
	liar_add(LIAR_HELLO, 1, NULL, 0);
	liar_add_file("a", 1000);
	liar_add_data(500);
	liar_send();
	IS(shutdown(liar.sock, SHUT_WR), 0);
	liar_recv_until(0);
	honest_part();
	IS(honest.result, -ECONNRESET);
	LIKE(honest.reason, "before all files were exchanged");
	IS(honest_entries(), 0);

	honest_meet(20000, true, false);
	liar_add(LIAR_HELLO, 1, NULL, 0);
	liar_add_file("a", 1000);
	len = liar.len;
	liar_add_data(1000);
	liar.len = len + (liar.len - len) / 2;
	liar_send();
	honest_part();
	IS(honest.result, -ECONNRESET);
	IS(honest_entries(), 0);
}

static void the_message_of_the_peer_is_printed_without_its_tricks(void)
{
	static const char trick[] = "no \033]0;x\007 room\n";

	honest_meet(20000, true, false);
	liar_add(LIAR_HELLO, 1, NULL, 0);
	liar_add(LIAR_FAILED, 0, trick, sizeof(trick) - 1);
	liar_send();
	liar_recv_until(0);
	honest_part();
	IS(honest.result, -EREMOTEIO);
	LIKE(honest.reason, "the peer has given up: no ?]0;x? room?");
}

/* A frame of its file is half written, as we have not read any. */
static void the_reason_comes_behind_what_is_being_written(void)
{
	honest_meet(20000, true, true);
	liar_add(LIAR_HELLO, 0, NULL, 0);
	liar_add(LIAR_HELLO, 0, NULL, 0);
	honest_refuses("out of order");
}

static void a_liar_that_does_not_read_delays_no_peer(void)
{
	honest_meet(20000, true, true);
	liar_add(LIAR_HELLO, 0, NULL, 0);
	liar_add(LIAR_HELLO, 0, NULL, 0);
	liar_send();
	IS(pthread_join(honest.thread, NULL), 0);
	close(liar.sock);
	liar.sock = -1;
	IS(honest.result, -EPROTO);
}

/* The peer receives nothing and is disconnected. */
static void is_dropped(void)
{
	liar_send();
	shutdown(liar.sock, SHUT_WR);
	IS(liar_recv(), 0);
	close(liar.sock);
	honest_dial();
}

static void strangers_are_sent_nothing_and_waited_past(void)
{
	honest_meet(20000, true, true);
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
	honest_finish(1);
	IS(honest.result, 0);
}

static void a_stranger_who_only_waits_is_replaced_by_a_peer(void)
{
	int stranger;

	honest_meet(20000, true, false);
	stranger = liar.sock;
	honest_dial();
	liar_add(LIAR_HELLO, 0, NULL, 0);
	honest_finish(0);
	close(stranger);
	IS(honest.result, 0);
}

/* More of them than are received from at a time, and all of them wait. */
static void strangers_that_wait_slow_no_peer_down(void)
{
	int strangers[20];

	honest_meet(20000, true, false);
	for (int i = 0; i < 20; i++) {
		strangers[i] = liar.sock;
		honest_dial();
	}
	liar_add(LIAR_HELLO, 0, NULL, 0);
	honest_finish(0);
	for (int i = 0; i < 20; i++)
		close(strangers[i]);
	IS(honest.result, 0);
}

/* Half a hello may come, and its end after those of others. */
static void the_first_complete_hello_makes_the_peer(void)
{
	uint8_t hello[LIAR_FRAME_MAX];
	size_t len;
	int slow;

	honest_meet(20000, true, false);
	slow = liar.sock;
	liar_add(LIAR_HELLO, 0, NULL, 0);
	len = liar.len;
	memcpy(hello, liar.out, len);
	liar.len = len - 1;
	liar_send();
	honest_dial();
	liar_add(LIAR_HELLO, 0, NULL, 0);
	liar_send();
	IS(liar_recv(), LIAR_HELLO);
	send(slow, hello + len - 1, 1, MSG_NOSIGNAL);
	honest_finish(0);
	close(slow);
	IS(honest.result, 0);
}

static void strangers_do_not_stretch_the_time(void)
{
	honest_meet(300, true, false);
	is_dropped();
	IS(pthread_join(honest.thread, NULL), 0);
	close(liar.sock);
	liar.sock = -1;
	IS(honest.result, -ETIMEDOUT);
	LIKE(honest.reason, "no peer within 300 ms");
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
	honest.cfg = (struct pier_exchange_config){
		.size = sizeof(honest.cfg),
		.role = PIER_EXCHANGE_CONNECT,
		.address = address,
		.timeout_ms = 20000,
	};
	honest_start();
	liar.sock = accept(listener, NULL, NULL);
	OK(liar.sock >= 0);
	memcpy(liar.out, add_it, liar.len = strlen(add_it));
	liar_send();
	shutdown(liar.sock, SHUT_WR);
	liar_recv_until(0);
	honest_part();
	close(listener);
}

static void a_server_of_another_kind_is_refused(void)
{
	serve("220 smtp.example.org ESMTP ready\r\n");
	IS(honest.result, -EPROTO);
	LIKE(honest.reason, "does not begin with \"pier\"");
	serve("");
	IS(honest.result, -ECONNRESET);
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
	if (!honest_open())
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
	TEST(the_message_of_the_peer_is_printed_without_its_tricks);
	TEST(the_reason_comes_behind_what_is_being_written);
	TEST(a_liar_that_does_not_read_delays_no_peer);
	TEST(strangers_are_sent_nothing_and_waited_past);
	TEST(a_stranger_who_only_waits_is_replaced_by_a_peer);
	TEST(strangers_that_wait_slow_no_peer_down);
	TEST(the_first_complete_hello_makes_the_peer);
	TEST(strangers_do_not_stretch_the_time);
	TEST(a_server_of_another_kind_is_refused);
	honest_close();
	return tap_done();
}
