/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "t/lib/copier.h"
#include "t/lib/limit.h"
#include "t/lib/tap.h"

/* How long a DMA context is connected to the owner of what it imports. */
#define LEN 4096

static struct pier_dev *dev, *far_dev;
static struct copier c;
static struct pier_mmap *memory;
static struct pier_dma_export *exported;

static bool begin(void)
{
	struct pier_mmap_config cfg = {
		.size = sizeof(cfg), .access = PIER_PEER_READ,
	};

	return IS(pier_dev_open(NULL, &dev), 0) &&
	       IS(pier_dev_open(NULL, &far_dev), 0) &&
	       copier_open(&c, dev, NULL, LEN) &&
	       IS(pier_mmap_alloc(far_dev, LEN, &cfg, &memory), 0) &&
	       IS(pier_dma_export_create(memory, far_dev, &exported), 0);
}

static void end(void)
{
	pier_dma_export_destroy(exported);
	pier_mmap_destroy(memory);
	copier_close(&c);
	pier_dev_close(far_dev);
	pier_dev_close(dev);
}

static struct pier_mmap *import(void)
{
	struct pier_mmap *mmap = NULL;
	const void *desc;
	size_t len;

	pier_dma_export_desc(exported, &desc, &len);
	IS(pier_dma_import(dev, desc, len, &mmap), 0);
	return mmap;
}

static void copy_from(struct pier_mmap *remote)
{
	struct pier_buf *src = NULL, *dst = copier_tail(&c, 0, LEN);

	if (IS(pier_buf_whole(c.inv, remote, &src), 0))
		IS(copier_copy(&c, src, dst), 0);
	pier_buf_put(src);
	pier_buf_put(dst);
}

/* Drive the importer until the owner sees no client. */
static bool is_left(void)
{
	long long limit = limit_from_now();
	int err;

	while ((err = pier_dma_export_wait(exported, 0)) && limit_nap(limit))
		pier_pe_progress(c.pe, 16);
	return IS(err, 0);
}

static void the_last_import_that_is_destroyed_ends_the_connection(void)
{
	struct pier_mmap *one, *other;

	if (!begin())
		return;
	one = import();
	other = import();
	copy_from(one);
	pier_mmap_destroy(one);
	copy_from(other);
	IS(pier_dma_export_wait(exported, 50), -ETIMEDOUT);
	pier_mmap_destroy(other);
	is_left();
	one = import();
	copy_from(one);
	pier_mmap_destroy(one);
	is_left();
	end();
}

int main(void)
{
	TEST(the_last_import_that_is_destroyed_ends_the_connection);
	return tap_done();
}
