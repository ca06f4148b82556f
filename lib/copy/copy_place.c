/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <pier/copy.h>

#include "copy/copy_impl.h"
#include "core/fail.h"

static int is_dir(const struct pier__copy_tree *tree, const char *path)
{
	int fd = pier__copy_tree_open(tree, path, O_PATH | O_DIRECTORY, 0);

	if (fd == -ENOENT || fd == -ENOTDIR)
		return 0;
	if (fd < 0)
		return fd;
	close(fd);
	return 1;
}

int pier__copy_receiver_open(struct pier__copy_receiver *receiver,
			     const struct pier__copy_tree *tree,
			     const char *target, bool exact, bool many)
{
	size_t len = strlen(target);
	int found;

	if (len > PIER__RECORD_PATH)
		return pier__fail(-ENAMETOOLONG, "copy: a target of %zu bytes: "
				  "at most %d are allowed", len,
				  PIER__RECORD_PATH);
	pier__copy_trim(target, tree->beneath, receiver->target);
	found = is_dir(tree, receiver->target);
	if (found < 0)
		return pier__fail(found, "copy: the target %s: %s", target,
				  pier__copy_tree_error(found));
	if (found && exact)
		return pier__fail(-EISDIR, "copy: the target %s is a "
				  "directory: name a file", target);
	if (!found && (many || (len && target[len - 1] == '/')))
		return pier__fail(-ENOTDIR, "copy: the target %s is not a "
				  "directory that exists", target);
	receiver->tree = *tree;
	receiver->into = found;
	receiver->exact = exact;
	receiver->dir = -1;
	pier__copy_target_init(&receiver->file);
	return 0;
}

/* The source is one of the client's, which has names of what it requests. */
static bool is_requested(const struct pier__copy_receiver *receiver,
			 const struct pier__copy_entry *entry)
{
	const char *name;
	size_t len;

	for (size_t i = 0; i < receiver->source_count; i++) {
		len = pier__copy_name(receiver->source[i], &name);
		if (len == entry->name_len && !memcmp(name, entry->path, len))
			return true;
	}
	return !receiver->source_count;
}

int pier__copy_receiver_check(struct pier__copy_receiver *receiver,
			      enum pier__copy_record_kind kind,
			      const struct pier__copy_entry *entry)
{
	bool is_file = kind == PIER__RECORD_FILE, recursive, again;
	const char *wanted = "what was requested";
	char path[256];

	again = is_file && receiver->exact && receiver->has_file;
	recursive = !receiver->exact &&
		    (receiver->flags & PIER_COPY_RECURSIVE);
	receiver->has_file |= is_file;
	if (receiver->exact)
		wanted = "one file";
	else if (!recursive)
		wanted = "files that were requested";
	if (!again && is_requested(receiver, entry) &&
	    (recursive || (is_file && entry->path[0] &&
			   !entry->path[entry->name_len])))
		return 0;
	pier__copy_printable(entry->path, path, sizeof(path));
	return pier__fail(-EPROTO, "copy: the peer has sent the %s \"%s\": "
			  "only %s may come", is_file ? "file" : "directory",
			  path, wanted);
}

int pier__copy_receiver_place(struct pier__copy_receiver *receiver,
			      const struct pier__copy_entry *entry)
{
	const char *rest = entry->path, *between = "";
	int len;

	if (!receiver->into) {
		rest += entry->name_len;
		rest += *rest == '/';
	}
	if (*rest)
		between = "/";
	len = snprintf(receiver->path, sizeof(receiver->path), "%s%s%s",
		       receiver->target, between, rest);
	return len > PIER__RECORD_PATH ? -ENAMETOOLONG : 0;
}

/* Open the directory of @path. */
static int enter(struct pier__copy_receiver *receiver, const char *path,
		 char ret_leaf[PIER__RECORD_PATH + 1])
{
	char dir[PIER__RECORD_PATH + 1];
	int fd;

	pier__copy_split(path, dir, ret_leaf);
	if (receiver->dir >= 0 && !strcmp(dir, receiver->dir_path))
		return 0;
	fd = pier__copy_tree_open(&receiver->tree, dir,
				  O_RDONLY | O_DIRECTORY, 0);
	if (fd == -EACCES)	/* it may be written nevertheless */
		fd = pier__copy_tree_open(&receiver->tree, dir,
					  O_PATH | O_DIRECTORY, 0);
	if (fd < 0)
		return fd;
	pier__copy_receiver_leave(receiver);
	receiver->dir = fd;
	strcpy(receiver->dir_path, dir);
	return 0;
}

int pier__copy_receiver_enter(struct pier__copy_receiver *receiver,
			      char ret_leaf[PIER__RECORD_PATH + 1])
{
	return enter(receiver, receiver->path, ret_leaf);
}

int pier__copy_receiver_find(struct pier__copy_receiver *receiver,
			     char ret_leaf[PIER__RECORD_PATH + 1])
{
	char path[PIER__RECORD_PATH + 1];
	int found = 1;

	strcpy(path, receiver->path);
	for (int i = 0; i <= PIER__COPY_LINKS && found > 0; i++) {
		if (path[0] == '/' && receiver->tree.beneath)
			return -EXDEV;
		found = enter(receiver, path, ret_leaf);
		if (!found)
			found = pier__copy_link(receiver->dir, ret_leaf,
						receiver->dir_path, path);
	}
	return found > 0 ? -ELOOP : found;
}

void pier__copy_receiver_leave(struct pier__copy_receiver *receiver)
{
	if (receiver->dir < 0)
		return;
	atomic_store(&receiver->io->syncs, true);
	fsync(receiver->dir);	/* not every file system can */
	atomic_store(&receiver->io->syncs, false);
	close(receiver->dir);
	receiver->dir = -1;
}

int pier__copy_receiver_mkdir(struct pier__copy_receiver *receiver,
			      const struct pier__copy_entry *entry)
{
	char leaf[PIER__RECORD_PATH + 1];
	int err = pier__copy_receiver_place(receiver, entry);

	if (err)
		return err;
	if (is_dir(&receiver->tree, receiver->path) > 0)
		return 0;
	err = pier__copy_receiver_enter(receiver, leaf);
	if (err)
		return err;
	if (pier__copy_target_is_temp(leaf))
		return -EISNAM;
	if (mkdirat(receiver->dir, leaf, (entry->mode & 0777) | 0700))
		return errno == EEXIST ? -ENOTDIR : -errno;
	return 0;
}

int pier__copy_receiver_chdir(struct pier__copy_receiver *receiver,
			      const struct pier__copy_entry *entry)
{
	struct timespec times[2] = {
		{ .tv_nsec = UTIME_OMIT },
		{ .tv_sec = entry->mtime, .tv_nsec = entry->mtime_ns },
	};
	int err = pier__copy_receiver_place(receiver, entry), fd;

	if (err || !(receiver->flags & PIER_COPY_PRESERVE))
		return err;
	fd = pier__copy_tree_open(&receiver->tree, receiver->path,
				  O_RDONLY | O_DIRECTORY, 0);
	if (fd < 0)
		return fd;
	if (fchmod(fd, entry->mode) || futimens(fd, times))
		err = -errno;
	close(fd);
	return err;
}
