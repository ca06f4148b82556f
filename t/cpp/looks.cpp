/* SPDX-License-Identifier: BSD-2-Clause */
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <exception>
#include <fstream>
#include <stdexcept>
#include <thread>

#include "t/cpp/ends.hpp"

/* Devices, representors, counters, hosts, descriptors, copies, in C++. */

static void counters_and_events_of_a_process_are_listed()
{
	ends e;
	auto src = e.a.source("counted"), dst = e.b.target();
	auto receive = pier::task();

	receive = e.b.rdma.receive(dst).value();
	receive.submit().or_throw();
	pier::run(e.a.conn.send(src), LIMIT_MS).value();
	receive.wait(LIMIT_MS, e.b.conn.get()).or_throw();
	auto list = pier::counter_list::create(getpid()).value();

	if (!OK(list.size() >= 3))
		return;
	IS(list[0].qpn, 0);
	auto counters = list.counters(0).value();

	OK(pier::find_counter(counters, "tx_packets").value() > 0);
	IS(pier::find_counter(counters, "no_such").code(), -ENOENT);
	pier_conn_event event;

	OK(list.event(0, 0, event));
	OK(!list.event(1, 0, event));
	IS(pier::counter_list::create(1 << 22).code(), -ENOENT);
	IS_STR(e.a.conn.state_name(), pier_conn_state_name(e.a.conn.state()));
	IS_STR(e.a.conn.transport_name(), "RoCE v2");
	IS(e.a.conn.peer_sockaddr().code(), -ENOTCONN);
}

static void a_representor_is_found_and_opened()
{
	auto dev = pier::device::open().value();
	auto list = pier::rep_list::create(dev.info()).value();

	IS(list.size(), 1);
	IS_STR(list[0].port(), "pf0");
	IS(list[0].kind(), PIER_REP_PF);
	OK(list[0].is_pci(list[0].pci()));
	IS(list.find("none").code(), -ENODEV);
	auto one = pier::rep::open(list.find("pf0").value()).value();
	auto other = pier::rep::open(dev, "pf0").value();

	IS_STR(one.info().vuid(), other.info().vuid());
	auto name = "cpp looks " + std::to_string(getpid());
	auto server = pier::comch::server(dev, name.c_str(), one).value();

	OK(server.rep() == one);
	OK(server.device() == dev);
}

static void a_device_has_reasons_for_what_it_lacks()
{
	auto dev = pier::device::open().value();
	auto list = pier::device_list::create().value();

	IS(dev.info().can_gid(0).code(), 0);
	IS(dev.info().can_export(PIER_EXPORT_MMAP).code(), 0);
	IS(dev.info().can_import(PIER_EXPORT_CONN).code(), 0);
	if (list.missing(0))
		OK(list.missing_text(0)[0]);
	OK(!list.missing(8));
	auto mmap = pier::mmap::alloc(dev, 4096).value();

	IS(dev.users().first, 1);
	IS(mmap.fd().code(), -EINVAL);
}

/* Accepts every client. */
class accepting : public pier::rdma_events {
public:
	int count = 0;
	std::vector<pier::conn> conns;

	void requested(pier::conn_ref conn) noexcept override
	{
		count++;
		if (conn.accept())
			conns.emplace_back(conn.get());
	}
};

static void a_host_listens_on_all_devices()
{
	accepting events;
	auto dev = pier::device::open("soft_lo").value();
	auto pe = pier::engine::create().value();
	auto host = pier::host::create(pe, events).value();
	auto rdma = pier::rdma::create(dev).value();

	rdma.start(pe).or_throw();
	OK(host.size() >= 1);
	IS(host.port(), 0);
	IS(host.listen(0).code(), 0);
	OK(host.port());
	auto conn = rdma.connect("127.0.0.1", host.port()).value();

	IS(conn.wait(LIMIT_MS).code(), 0);
	IS(events.count, 1);
	std::size_t i = host.find(events.conns.at(0));

	OK(i < host.size());
	IS_STR(host.name(i), "soft_lo");
	IS(host.error(i).code, 0);
	OK(!!host.rdma(i));
	IS(host.find(conn), host.size());
	host.stop_listening();
	IS(host.port(), 0);
	events.conns.clear();
}

static void descriptors_are_files_and_text()
{
	char dir[] = "/tmp/pier-cpp.XXXXXX";
	auto dev = pier::device::open().value();
	std::vector<char> memory(8);
	auto mmap = pier::mmap::map(dev, memory, PIER_REMOTE_READ).value();
	auto desc = mmap.descriptor().value();

	if (!OK(mkdtemp(dir)))
		return;
	auto path = std::string(dir) + "/desc";

	IS(pier::write_desc(path.c_str(), desc).code(), 0);
	auto read = pier::read_desc(path.c_str()).value();

	OK(pier::bytes(read).text() == desc.text());
	LIKE(pier::describe(desc).value().c_str(), "kind: memory");
	IS(pier::await_desc(path.c_str(), 1).code(), -ETIMEDOUT);
	IS(pier::read_desc(path.c_str()).code(), -ENOENT);
	IS(pier::describe("no descriptor").code(), -PIER_EDESC);
	IS_STR(pier::escape("a\033b").c_str(), "a\\x1bb");
	rmdir(dir);
}

static void the_log_goes_to_a_callable()
{
	std::string seen;
	auto fn = [&](enum pier_log_level, const char *, const char *message) {
		seen = message;
	};
	auto before = pier::log_level();

	pier::set_log_level("critical").or_throw();
	IS(pier::log_level(), PIER_LOG_CRITICAL);
	pier::log_to(fn);
	{
		auto dev = pier::device::open().value();
		auto left = pier::mmap::alloc(dev, 8).value();
		pier_dev *c = dev.release();

		pier_dev_close(c);
		left.reset();
		LIKE(seen.c_str(), "closed while");
		pier_dev_close(c);
	}
	pier::log_to(stderr);
	pier::set_log_level(before).or_throw();
	IS(pier::set_log_level("loud").code(), -EINVAL);
	IS_STR(pier::version(), PIER_VERSION);
}

/* In a process of its own: the handler of terminate() is its end. */
static void throw_from_the_log()
{
	auto fn = [](enum pier_log_level, const char *, const char *) {
		throw std::runtime_error("from the log");
	};

	std::set_terminate([] { _exit(42); });
	pier::log_to(fn);
	static_cast<void>(pier::set_log_level(PIER_LOG_TRACE));
	try {
		auto dev = pier::device::open("soft_lo");
	} catch (const std::runtime_error &) {
		_exit(1);
	}
	_exit(2);
}

static void a_callable_of_the_log_that_throws_ends_the_process()
{
	int status = 0;
	pid_t child = fork();

	if (child == 0)
		throw_from_the_log();
	IS(waitpid(child, &status, 0), child);
	OK(WIFEXITED(status));
	IS(WEXITSTATUS(status), 42);
}

static void services_are_listed()
{
	auto dev = pier::device::open().value();
	std::vector<char> memory(8);
	auto mmap = pier::mmap::map(dev, memory, PIER_PEER_READ).value();
	auto exported = pier::dma_export::create(mmap, dev).value();
	auto list = pier::service_list::create(getpid()).value();

	if (IS(list.size(), 1))
		IS(list[0].exports, 1);
}

/* Counts what a copy reports. */
class copying : public pier::copy_events {
public:
	int failures = 0;
	bool ready = false;

	void failed(const char *, int, const char *) noexcept override
	{
		failures++;
	}
	void listening() noexcept override { ready = true; }
};

static void files_are_copied()
{
	auto dev = pier::device::open().value();
	auto name = "cpp copies " + std::to_string(getpid());
	auto cfg = pier::defaults<pier_copy_config>();
	auto server = pier::copy::create(dev).value();
	auto client = pier::copy::create(dev).value();

	cfg.name = name.c_str();
	copying at_server, at_client;
	char dir[] = "/tmp/pier-cpp.XXXXXX";

	if (!OK(mkdtemp(dir)))
		return;
	std::string file = std::string(dir) + "/file";
	std::string into = std::string(dir) + "/into";

	mkdir(into.c_str(), 0700);
	std::ofstream(file) << "a text";
	cfg.root = dir;
	cfg.flags = PIER_COPY_ONCE;
	server.configure(cfg).or_throw();
	IS(server.config().flags, PIER_COPY_ONCE);
	cfg.flags = 0;
	client.configure(cfg).or_throw();
	client.set_events(at_client);
	std::thread serving([&] { IS(server.serve(at_server).code(), 0); });
	std::array<const char *, 2> sources{ "none", "file" };

	IS(client.receive(sources, into.c_str()).code(), -ENOENT);
	serving.join();
	IS(at_client.failures, 1);
	OK(at_server.ready);
	IS(client.last().failed, 1);
	IS(unlink((into + "/file").c_str()), 0);
	rmdir(into.c_str());
	unlink(file.c_str());
	rmdir(dir);
}

int main()
{
	/* The first, as it forks: there are no other threads yet. */
	TEST(a_callable_of_the_log_that_throws_ends_the_process);
	TEST(counters_and_events_of_a_process_are_listed);
	TEST(a_representor_is_found_and_opened);
	TEST(a_device_has_reasons_for_what_it_lacks);
	TEST(a_host_listens_on_all_devices);
	TEST(descriptors_are_files_and_text);
	TEST(the_log_goes_to_a_callable);
	TEST(services_are_listed);
	TEST(files_are_copied);
	return tap_done();
}
