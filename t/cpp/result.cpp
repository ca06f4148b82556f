/* SPDX-License-Identifier: BSD-2-Clause */
#include "t/cpp/ends.hpp"

/* Results, errors and owners of the C++ binding. */

static void a_failure_has_the_code_and_the_message_of_the_call()
{
	auto dev = pier::device::open("no_such0");

	OK(!dev);
	IS(dev.code(), -ENODEV);
	IS(dev.error().code, -ENODEV);
	LIKE(dev.error().text.c_str(), "no_such0");
	IS_STR(dev.error().name(), "ENODEV");
}

static void a_message_is_stored_beyond_the_next_failure()
{
	auto first = pier::device::open("no_such0");
	auto second = pier::device::open("no_such1");

	LIKE(first.error().text.c_str(), "no_such0");
	LIKE(second.error().text.c_str(), "no_such1");
}

static void a_value_has_no_error()
{
	auto pe = pier::engine::create();

	OK(pe.ok());
	IS(pe.code(), 0);
	IS(pe.error().code, 0);
	IS_STR(pe.error().text.c_str(), "");
	OK(pe->get());
}

static void a_missing_value_is_thrown()
{
	try {
		auto dev = pier::device::open("no_such0").value();

		OK(!"a value");
	} catch (const pier::exception &e) {
		IS(e.code(), -ENODEV);
		LIKE(e.what(), "no_such0");
	}
	try {
		pier::status(-EBUSY).or_throw();
		OK(!"no exception");
	} catch (const std::exception &) {
	}
}

static void an_owner_that_is_moved_from_owns_nothing()
{
	pier::inventory one = pier::inventory::create(4).value();
	pier_buf_inventory *c = one.get();
	pier::inventory two = std::move(one);

	OK(!one);
	OK(two.get() == c);
	one = std::move(two);
	OK(one.get() == c);
	OK(!two);
}

static void calls_of_an_empty_owner_fail()
{
	pier::conn conn;
	pier::task task;

	OK(!conn);
	IS(conn.wait(0).code(), -EINVAL);
	LIKE(pier_last_error(), "NULL");
	IS(conn.send(nullptr).code(), -EINVAL);
	IS(task.submit().code(), -EINVAL);
	IS(pier::buf().size(), 0);
	OK(!pier::mmap().addr());
	IS_STR(pier::device().name(), "");
}

static void an_owner_destroys_what_it_owned_when_it_is_assigned_to()
{
	auto dev = pier::device::open().value();
	std::vector<char> memory(64);
	unsigned int mmaps = 0, ctxs = 0;
	auto mmap = pier::mmap::map(dev, memory, PIER_LOCAL_WRITE).value();

	mmap = pier::mmap::map(dev, memory, PIER_LOCAL_WRITE).value();
	pier_dev_users(dev.get(), &mmaps, &ctxs);
	IS(mmaps, 1);
	mmap.reset();
	pier_dev_users(dev.get(), &mmaps, &ctxs);
	IS(mmaps, 0);
}

static void a_shared_buffer_is_freed_with_its_last_owner()
{
	auto dev = pier::device::open().value();
	auto mmap = pier::mmap::alloc(dev, 64).value();
	auto inv = pier::inventory::create(1).value();
	auto buf = inv.empty(mmap).value();

	{
		auto other = buf.share().value();

		IS(other.refs(), 2);
		OK(other == buf);
	}
	IS(buf.refs(), 1);
	IS(inv.free_count(), 0);
	IS(inv.empty(mmap).code(), -ENOBUFS);
	buf.reset();
	IS(inv.free_count(), 1);
}

static void a_chain_owns_its_tail_until_it_is_cut()
{
	auto dev = pier::device::open().value();
	auto mmap = pier::mmap::alloc(dev, 64).value();
	auto pool = pier::buf_pool::create(mmap, 2, 32).value();
	auto head = pool.take().value();
	auto tail = pool.take().value();

	IS(head.chain(std::move(tail)).code(), 0);
	OK(!tail);
	IS(head.chain_size(), 2);
	IS(head.chain_tail_size(), 64);
	tail = head.unchain(head.next()).value();
	IS(head.chain_size(), 1);
	head.reset();
	tail.reset();
	IS(pool.free_count(), 2);
}

static void bytes_are_those_of_texts_and_containers()
{
	std::string text = "four";
	std::vector<int> numbers(3);

	IS(pier::bytes("four").size, 4);
	IS(pier::bytes(text).size, 4);
	IS(pier::bytes(numbers).size, 3 * sizeof(int));
	OK(pier::bytes(text).text() == "four");
	IS(pier::bytes().size, 0);
}

static void a_list_of_devices_describes_them()
{
	auto list = pier::device_list::create().value();

	OK(list.size() > 0);
	auto info = list.find("soft_lo").value();

	IS_STR(info.name(), "soft_lo");
	IS(info.can(PIER_TASK_READ).code(), 0);
	OK(info.limit(PIER_LIMIT_MESSAGE).value() > 0);
	IS(list.find("no_such0").code(), -ENODEV);
}

int main()
{
	TEST(a_failure_has_the_code_and_the_message_of_the_call);
	TEST(a_message_is_stored_beyond_the_next_failure);
	TEST(a_value_has_no_error);
	TEST(a_missing_value_is_thrown);
	TEST(an_owner_that_is_moved_from_owns_nothing);
	TEST(calls_of_an_empty_owner_fail);
	TEST(an_owner_destroys_what_it_owned_when_it_is_assigned_to);
	TEST(a_shared_buffer_is_freed_with_its_last_owner);
	TEST(a_chain_owns_its_tail_until_it_is_cut);
	TEST(bytes_are_those_of_texts_and_containers);
	TEST(a_list_of_devices_describes_them);
	return tap_done();
}
