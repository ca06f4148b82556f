/* SPDX-License-Identifier: BSD-2-Clause */
/* dma_copy_dpu - copy the text that dma_copy_host offers. */
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>

#include <pier/pier.hpp>

static const char *device, *text, *desc_path = "/tmp/export_desc.txt";
static const char *info_path = "/tmp/buffer_info.txt";
static const pier_option options[] = {
	{ "p", "pci-addr", "DEV", "the device, by PCI address or name",
	  PIER_OPTION_STRING, 0, 0, 0, &device },
	{ "t", "text", "TEXT", "ignored: of the host", PIER_OPTION_STRING,
	  0, 0, 0, &text },
	{ "d", "descriptor-path", "FILE", "where the descriptor is",
	  PIER_OPTION_STRING, 0, 1, 4095, &desc_path },
	{ "b", "buffer-path", "FILE", "where address and length are",
	  PIER_OPTION_STRING, 0, 1, 4095, &info_path },
	{},
};

static std::string copy_text()
{
	std::array<char, 4096> memory{};
	std::uintptr_t addr;
	std::size_t size;
	if (!(std::ifstream(info_path) >> addr >> size))
		throw pier::exception({ -EBADMSG, std::string(info_path) +
					": no address and length" });

	auto dev = pier::device::open(device).or_throw();
	auto desc = pier::read_desc(desc_path).or_throw();
	auto remote = pier::dma_import(dev, desc).or_throw();
	auto pe = pier::engine::create().or_throw();
	auto dma = pier::dma::create(dev).or_throw();
	dma.start(pe).or_throw();

	auto local = pier::mmap::map(dev, memory, PIER_LOCAL_WRITE).or_throw();
	auto inv = pier::inventory::create(2).or_throw();
	auto src = inv.by_data(remote, reinterpret_cast<void *>(addr),
			       size).or_throw();
	auto dst = inv.empty(local).or_throw();
	pier::run(dma.copy(src, dst), -1).or_throw();

	auto copied = dst.data().text();
	return pier::escape(copied.substr(0, copied.find('\0')));
}

int main(int argc, char *argv[])
{
	auto args = pier::defaults<pier_args>();

	args.about = "Copy the text that dma_copy_host offers.";
	args.options = options;
	int err = pier_args_parse(&args, argc, argv);
	if (err)
		return pier_args_exit(err);	/* help, or a usage error */
	try {
		std::printf("copied \"%s\"\n", copy_text().c_str());
	} catch (const pier::exception &e) {
		std::fprintf(stderr, "dma_copy_dpu: %s\n", e.what());
		return 1;
	}
	return 0;
}
