/* SPDX-License-Identifier: BSD-2-Clause */
/* dma_copy_host - offer a text to the DMA context of dma_copy_dpu. */
#include <cstdint>
#include <cstdio>
#include <string>

#include <pier/pier.hpp>

static const char *text = PIER_ARGS_TEXT, *device;
static const char *desc_path = "/tmp/export_desc.txt";
static const char *info_path = "/tmp/buffer_info.txt";
static const pier_option options[] = {
	{ "p", "pci-addr", "DEV", "the device, by PCI address or name",
	  PIER_OPTION_STRING, 0, 0, 0, &device },
	{ "t", "text", "TEXT", "the text to offer", PIER_OPTION_STRING, 0, 1,
	  4095, &text },
	{ "d", "descriptor-path", "FILE", "where to write the descriptor",
	  PIER_OPTION_STRING, 0, 1, 4095, &desc_path },
	{ "b", "buffer-path", "FILE", "where to write address and length",
	  PIER_OPTION_STRING, 0, 1, 4095, &info_path },
	{},
};

static void offer(std::string memory)
{
	memory.push_back('\0');		/* is offered with it */
	auto dev = pier::device::open(device).or_throw();
	auto mmap = pier::mmap::map(dev, memory, PIER_PEER_READ).or_throw();
	auto exported = pier::dma_export::create(mmap, dev).or_throw();
	auto addr = reinterpret_cast<std::uintptr_t>(memory.data());

	pier::write_desc(info_path, std::to_string(addr) + '\n' +
			 std::to_string(memory.size())).or_throw();
	pier::write_desc(desc_path, exported.descriptor()).or_throw();
	std::printf("offering \"%s\": run dma_copy_dpu with %s and %s, "
		    "then press Enter\n", text, desc_path, info_path);
	std::fflush(stdout);

	/* Without a terminal, until the peer ends; no engine runs. */
	if (std::getchar() == EOF)
		exported.wait(-1).or_throw();
}

int main(int argc, char *argv[])
{
	auto args = pier::defaults<pier_args>();

	args.about = "Offer a text for dma_copy_dpu to copy.";
	args.options = options;
	int err = pier_args_parse(&args, argc, argv);
	if (err)
		return pier_args_exit(err);	/* help, or a usage error */
	try {
		offer(text);
	} catch (const pier::exception &e) {
		std::fprintf(stderr, "dma_copy_host: %s\n", e.what());
		return 1;
	}
	return 0;
}
