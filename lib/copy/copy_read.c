/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <pier/copy.h>

#include "copy/copy_sender.h"

/* Where the data at or behind @offset begins and ends, within @size. */
static void find_data(int fd, uint64_t offset, uint64_t size, uint64_t *ret,
		      uint64_t *ret_end)
{
	off_t data = lseek(fd, (off_t)offset, SEEK_DATA), hole = -1;

	if (data < 0) {		/* a hole to the end, or not supported */
		*ret = errno == ENXIO ? size : offset;
		*ret_end = size;
		return;
	}
	*ret = (uint64_t)data < size ? (uint64_t)data : size;
	hole = lseek(fd, data, SEEK_HOLE);
	*ret_end = hole < data || (uint64_t)hole > size ? size :
							  (uint64_t)hole;
}

static int send_hole(struct pier__copy_sender *sender, uint64_t len)
{
	int err = pier__copy_sender_reserve(sender, PIER__RECORD_MAX);

	if (err)
		return err;
	pier__record_number(&sender->span, PIER__RECORD_HOLE, len);
	pier__copy_hash_hole(sender->hash, len);
	return 0;
}

static ssize_t read_piece(int fd, uint8_t *to, size_t len, uint64_t offset)
{
	ssize_t n;

	do
		n = pread(fd, to, len, (off_t)offset);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

/* Send a piece of at most @len bytes.  Returns its length, 0: the end. */
static ssize_t send_piece(struct pier__copy_sender *sender, int fd,
			  uint64_t offset, uint64_t len)
{
	size_t least = PIER__COPY_PIECE_MIN;
	uint8_t *to;
	ssize_t n;
	int err;

	if (len < least)
		least = (size_t)len;
	err = pier__copy_sender_reserve(sender, least + 2 * PIER__RECORD_HEAD);
	if (err)
		return err;
	if (len > pier__record_capacity(&sender->span))
		len = pier__record_capacity(&sender->span);
	to = pier__record_data_at(&sender->span);
	n = read_piece(fd, to, (size_t)len, offset);
	if (n <= 0)
		return n;
	pier__copy_hash_data(sender->hash, to, (size_t)n);
	pier__record_data(&sender->span, (size_t)n);
	atomic_fetch_add(&sender->io->bytes, (uint64_t)n);
	return n;
}

bool pier__copy_sender_is_refused(struct pier__copy_sender *sender)
{
	return atomic_load(&sender->io->refused) == sender->entry.number ||
	       atomic_load(&sender->io->cancelled);
}

/* Where to begin: behind what the receiver has, if that is of this file. */
static int find_start(struct pier__copy_sender *sender, int fd, uint64_t *ret)
{
	struct pier__copy_offset offset;
	struct pier__copy_digest digest;
	int err;

	*ret = 0;
	if (!(sender->flags & PIER_COPY_RESUME) ||
	    sender->entry.size < PIER__RECORD_RESUMED)
		return 0;
	pier__copy_sender_flush(sender);
	err = pier__copy_io_take_offset(sender->io, sender->entry.number,
					&offset);
	if (err)
		return err;
	if (offset.bytes && offset.bytes <= sender->entry.size) {
		pier__copy_hash_begin(sender->hash);
		err = pier__copy_digest_file(sender->io, sender->hash, fd,
					     offset.bytes);
		pier__copy_hash_end(sender->hash, &digest);
		if (!err && !memcmp(&digest, &offset.digest, sizeof(digest)))
			*ret = offset.bytes;
	}
	if (!err)
		err = pier__copy_sender_reserve(sender, PIER__RECORD_MAX);
	if (!err)
		pier__record_number(&sender->span, PIER__RECORD_START, *ret);
	return err;
}

/* Send what is between *@offset and @end, and move *@offset there. */
static int send_data(struct pier__copy_sender *sender, int fd, uint64_t *offset,
		     uint64_t end)
{
	ssize_t n;
	int err;

	while (*offset < end) {
		if (pier__copy_sender_is_refused(sender))
			return -ECANCELED;
		if (pier__copy_sender_can_ahead(sender, end - *offset)) {
			err = pier__copy_sender_ahead(sender, fd, offset, end);
			if (err)
				return err;
			continue;
		}
		n = send_piece(sender, fd, *offset, end - *offset);
		if (n <= 0)
			return n ? (int)n : -ESTALE;
		*offset += (uint64_t)n;
	}
	return 0;
}

/* Send what @fd has; -ESTALE: it has become shorter. */
static int send_content(struct pier__copy_sender *sender, int fd)
{
	uint64_t size = sender->entry.size, offset, data, end;
	int err = find_start(sender, fd, &offset);

	if (err)
		return err;
	pier__copy_hash_begin(sender->hash);
	while (offset < size) {
		find_data(fd, offset, size, &data, &end);
		if (data > offset) {
			err = send_hole(sender, data - offset);
			if (err)
				return err;
			offset = data;
		}
		err = send_data(sender, fd, &offset, end);
		if (err)
			return err;
	}
	return 0;
}

static bool is_changed(int fd, const struct stat *before)
{
	struct stat st;

	return fstat(fd, &st) || st.st_size != before->st_size ||
	       st.st_mtim.tv_sec != before->st_mtim.tv_sec ||
	       st.st_mtim.tv_nsec != before->st_mtim.tv_nsec;
}

int pier__copy_sender_file(struct pier__copy_sender *sender, int fd,
			   const struct stat *st)
{
	struct pier__copy_entry *entry = &sender->entry;
	struct pier__copy_digest digest;
	int err = pier__copy_sender_reserve(sender, PIER__RECORD_MAX);

	if (err)
		return err;
	entry->number = atomic_fetch_add(&sender->number, 1) + 1;
	pier__record_entry(&sender->span, PIER__RECORD_FILE, entry);
	pier__copy_io_begin(sender->io, entry->path, entry->size);
	err = send_content(sender, fd);
	if (atomic_load(&sender->io->cancelled))
		return -ECANCELED;
	if (!err && is_changed(fd, st))
		err = -ESTALE;
	if (!err)
		err = pier__copy_sender_reserve(sender, PIER__RECORD_MAX);
	else
		return pier__copy_sender_abort(sender, err);
	if (err)
		return err;
	pier__copy_hash_end(sender->hash, &digest);
	pier__record_end(&sender->span, &digest);
	atomic_fetch_add(&sender->io->files, 1);
	return 0;
}
