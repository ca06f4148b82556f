/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Operations of Comm Channels: of a client, its consumer and its producer, with
 * the other end of overhead_peer.c; and of a server, with a client here.
 */
#include <cstring>

#include "bench/overhead_cpp.hpp"

extern "C" {
#include "bench/procs.h"
}

#define SIZE 8
#define RECEIVES 64		/* credits are returned once in 32 messages */
#define ROUNDS 1000000		/* of engines, until a connection is made */
#define NAME "overhead_cpp"

static pier::engine apart_pe;	/* of what is not measured */
static pier::comch client, server;
static pier::consumer consumer;
static pier::producer producer;
static pier::task request;
static const pier::bytes message(overhead_memory[0], SIZE);
static char reply[SIZE];

static void begin_peer()
{
	overhead_peer_begin(1);
}

static void await(pier::ctx_ref ctx)
{
	for (int i = 0; !ctx.running() ||
	     (overhead_apart.begin && !overhead_peer_ready()); i++) {
		if (i == ROUNDS)
			proc_die("overhead_cpp: no connection");
		must(overhead_pe.progress());
		must(apart_pe.progress());
		if (overhead_apart.begin)
			overhead_peer_progress();
	}
}

static void start_client(const char *name, pier::engine_ref on)
{
	auto cfg = pier::defaults<pier_comch_config>();

	client = pier::comch::client(overhead_dev, name).value();
	cfg.recv_queue = RECEIVES;
	client.configure(cfg).or_throw();
	client.start(on).or_throw();
	await(client.ctx());
}

/* Its consumers and producers are measured without it, if it is @apart. */
static void open_client(enum overhead_peer what, bool apart)
{
	overhead_open(true);
	apart_pe = pier::engine::create().value();
	overhead_peer_start(overhead_dev.get(), what);
	overhead_apart = { begin_peer, overhead_peer_progress, false };
	start_client(overhead_peer_name(), apart ? apart_pe : overhead_pe);
}

static void open_send()
{
	open_client(OVERHEAD_PEER_RECEIVES, false);
}

static void send_c(long n)
{
	overhead_repeat(n, [c = client.conn().get()] {
		return pier_comch_send(c, message.data, message.size,
				       overhead_task_done, &overhead_done);
	});
}

static void send_cpp(long n)
{
	overhead_repeat(n, [c = client.conn()] {
		return c.send(message, overhead_count).code();
	});
}

static void open_request()
{
	open_send();
	request = client.conn().request(message, reply, SIZE).value();
}

static void request_c(long n)
{
	pier_task_set_done(request.get(), overhead_task_done, &overhead_done);
	overhead_repeat(n, [t = request.get()] {
		int err = pier_comch_task_set_request(t, message.data,
						      message.size, reply,
						      SIZE);

		return err ? err : pier_task_submit(t, 0);
	});
}

static void request_cpp(long n)
{
	request.on_done(overhead_count);
	overhead_repeat(n, [] {
		auto ret = pier::set_request(request, message, reply, SIZE);

		return ret ? request.submit().code() : ret.code();
	});
}

static void open_consumer()
{
	open_client(OVERHEAD_PEER_PRODUCES, true);
	consumer = pier::consumer::create(client.conn(),
					  overhead_local).value();
	consumer.start(overhead_pe).or_throw();
	await(consumer.ctx());
}

static void receive_c(long n)
{
	overhead_repeat(n, [c = consumer.get()] {
		pier_buf_reset(overhead_dst.get());
		return pier_comch_receive(c, overhead_dst.get(),
					  overhead_task_done, &overhead_done);
	});
}

static void receive_cpp(long n)
{
	overhead_repeat(n, [] {
		overhead_dst.reset_data();
		return consumer.receive(overhead_dst, overhead_count).code();
	});
}

static void open_producer()
{
	open_client(OVERHEAD_PEER_CONSUMES, true);
	producer = pier::producer::create(client.conn()).value();
	producer.start(overhead_pe).or_throw();
	await(producer.ctx());
}

static void produce_c(long n)
{
	overhead_repeat(n, [p = producer.get(), id = overhead_peer_consumer()] {
		return pier_comch_produce(p, overhead_src.get(), nullptr, 0,
					  id, overhead_task_done,
					  &overhead_done);
	});
}

static void produce_cpp(long n)
{
	overhead_repeat(n, [id = overhead_peer_consumer()] {
		return producer.send(overhead_src, {}, id,
				     overhead_count).code();
	});
}

/* The client ends what it has begun, when the server has replied. */
static void begin_client()
{
	while (request.code() == -EINPROGRESS)
		must(apart_pe.progress());
	request.submit().or_throw();
}

static bool progress_client()
{
	must(apart_pe.progress());
	return true;
}

static void open_server()
{
	auto cfg = pier::defaults<pier_comch_config>();

	overhead_open(true);
	apart_pe = pier::engine::create().value();
	server = pier::comch::server(overhead_dev, NAME).value();
	cfg.recv_queue = RECEIVES;
	cfg.max_clients = 1;
	server.configure(cfg).or_throw();
	server.start(overhead_pe).or_throw();
	start_client(NAME, apart_pe);
	overhead_apart = { begin_client, progress_client, false };
}

static void open_replies()
{
	open_server();
	request = client.conn().request(message, reply, SIZE).value();
}

static void requested_c(struct pier_comch_conn *, std::uint64_t asked,
			const void *msg, std::size_t len, void *)
{
	must(pier_comch_reply(server.get(), asked, msg, len));
}

static void ended_c(pier_comch *, std::uint64_t, int status, void *)
{
	overhead_done += status == 0;
}

static void replies_c(long n)
{
	must(pier_comch_set_request_callbacks(server.get(), requested_c,
					      ended_c));
	overhead_repeat(n, [] { return 0; });
}

static struct : pier::request_events {
	void requested(pier::comch_conn, std::uint64_t asked,
		       pier::bytes msg) noexcept override
	{
		must(server.reply(asked, msg).code());
	}
	void request_ended(std::uint64_t, int status) noexcept override
	{
		overhead_done += status == 0;
	}
} replies;

static void replies_cpp(long n)
{
	server.set_events(replies).or_throw();
	overhead_repeat(n, [] { return 0; });
}

/* Messages that a server receives. */
static void open_messages()
{
	open_server();
	request = client.conn().send(message).value();
}

static void received_c(struct pier_comch_conn *, const void *, std::size_t,
		       void *)
{
	overhead_done++;
}

static void messages_c(long n)
{
	must(pier_comch_set_callbacks(server.get(), nullptr, nullptr,
				      received_c, nullptr));
	overhead_repeat(n, [] { return 0; });
}

static struct : pier::comch_events {
	void received(pier::comch_conn, pier::bytes) noexcept override
	{
		overhead_done++;
	}
} messages;

static void messages_cpp(long n)
{
	server.set_events(messages);
	overhead_repeat(n, [] { return 0; });
}

const overhead_case overhead_channel_cases[] = {
	{ "comch_send", open_send, send_c, send_cpp },
	{ "comch_request", open_request, request_c, request_cpp },
	{ "comch_reply", open_replies, replies_c, replies_cpp },
	{ "comch_message", open_messages, messages_c, messages_cpp },
	{ "comch_receive", open_consumer, receive_c, receive_cpp },
	{ "comch_produce", open_producer, produce_c, produce_cpp },
	{ nullptr, nullptr, nullptr, nullptr },
};
