/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <unistd.h>

#include "copy/copy_sender.h"

#define PIECE 65536

int pier__copy_digest_file(struct pier__copy_io *io,
			   struct pier__copy_hash *hash, int fd, uint64_t len)
{
	uint8_t piece[PIECE];
	uint64_t at = 0;
	ssize_t n;

	while (at < len) {
		if (atomic_load(&io->cancelled))
			return -ECANCELED;
		n = pread(fd, piece, len - at < PIECE ? len - at : PIECE,
			  (off_t)at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -ESTALE;
		pier__copy_hash_data(hash, piece, (size_t)n);
		at += (uint64_t)n;
		atomic_fetch_add(&io->progress, (uint64_t)n);
	}
	return 0;
}
