/* SPDX-License-Identifier: BSD-2-Clause */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <pier/copy.h>

#include "copy/copy_sender.h"
#include "core/fail.h"

#define DEPTH_MAX 128	/* directories in one another */

/* A directory that is being read. */
struct level {
	DIR *dir;
	struct stat st;
	size_t path_len, source_len;	/* of the texts when it is current */
};

/* A source: its files are sent in the order in which directories have them. */
struct walk {
	struct pier__copy_sender *sender;
	char path[PIER__RECORD_PATH + 1];	/* in the tree */
	size_t len;
	struct level level[DEPTH_MAX];
	unsigned int depth;
};

static int fail(struct walk *w, int err, const char *text)
{
	w->sender->failed.number = 0;
	return pier__copy_sender_fail(w->sender, PIER__RECORD_MISSING, w->path,
				      err, text);
}

static void fill(struct pier__copy_entry *entry, const struct stat *st)
{
	entry->number = 0;
	entry->size = S_ISREG(st->st_mode) ? (uint64_t)st->st_size : 0;
	entry->mtime = st->st_mtim.tv_sec;
	entry->mtime_ns = (uint32_t)st->st_mtim.tv_nsec;
	entry->mode = st->st_mode & 01777;
}

static int send_dir(struct walk *w, enum pier__copy_record_kind kind,
		    const struct stat *st)
{
	int err = pier__copy_sender_reserve(w->sender, PIER__RECORD_MAX);

	if (err)
		return err;
	fill(&w->sender->entry, st);
	pier__record_entry(&w->sender->span, kind, &w->sender->entry);
	return 0;
}

/* Enter the directory @fd, which is closed on any error. */
static int enter(struct walk *w, int fd, const struct stat *st)
{
	struct level *level = &w->level[w->depth];
	int err;

	if (!(w->sender->flags & PIER_COPY_RECURSIVE)) {
		close(fd);
		return fail(w, -EISDIR, "it is a directory, and the copy is "
			    "not recursive");
	}
	if (w->depth == DEPTH_MAX) {
		close(fd);
		return fail(w, -ELOOP, "more than 128 directories in one "
			    "another");
	}
	level->dir = fdopendir(fd);
	if (!level->dir) {
		err = -errno;
		close(fd);
		return fail(w, err, pier_strerror(err));
	}
	level->st = *st;
	level->path_len = strlen(w->sender->entry.path);
	level->source_len = w->len;
	w->depth++;
	return send_dir(w, PIER__RECORD_DIR, st);
}

/* Send what @fd is; it is closed. */
static int send_fd(struct walk *w, int fd)
{
	struct stat st;
	int err = 0;

	if (fstat(fd, &st))
		err = fail(w, -errno, pier_strerror(errno));
	else if (S_ISDIR(st.st_mode))
		return enter(w, fd, &st);
	else if (!S_ISREG(st.st_mode))
		err = fail(w, -EINVAL, "it is neither a file nor a directory");
	else {
		fill(&w->sender->entry, &st);
		err = pier__copy_sender_file(w->sender, fd, &st);
	}
	close(fd);
	return err;
}

/* Append "/" and @name to a text of @len bytes. */
static int append(char *text, size_t len, const char *name)
{
	size_t more = strlen(name), slash = len && text[len - 1] != '/';

	if (len + slash + more > PIER__RECORD_PATH)
		return -ENAMETOOLONG;
	if (slash)
		text[len++] = '/';
	memcpy(text + len, name, more + 1);
	return 0;
}

/* A link leads to a file, not to a directory, which may be above it. */
static int open_link(struct walk *w)
{
	struct stat st;
	int fd = pier__copy_tree_open(&w->sender->tree, w->path, O_RDONLY, 0);

	if (fd < 0 || fstat(fd, &st) || !S_ISDIR(st.st_mode))
		return fd;
	close(fd);
	return -ELOOP;
}

static int send_name(struct walk *w, struct level *level, const char *name)
{
	int fd, err;

	w->path[level->source_len] = '\0';
	w->sender->entry.path[level->path_len] = '\0';
	err = append(w->path, level->source_len, name);
	if (!err)
		err = append(w->sender->entry.path, level->path_len, name);
	if (err)
		return fail(w, err, pier_strerror(err));
	w->len = strlen(w->path);
	fd = openat(dirfd(level->dir), name, O_RDONLY | O_NOFOLLOW |
		    O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	fd = fd < 0 ? -errno : fd;
	if (fd == -ELOOP)
		fd = open_link(w);
	if (fd == -ELOOP)
		return fail(w, fd, "it is a link to a directory, or to none");
	if (fd < 0)
		return fail(w, fd, pier__copy_tree_error(fd));
	return send_fd(w, fd);
}

/* All of the directory was sent, or, with @err, it cannot be read on. */
static int leave(struct walk *w, struct level *level, int err)
{
	w->path[level->source_len] = '\0';
	w->sender->entry.path[level->path_len] = '\0';
	closedir(level->dir);
	w->depth--;
	if (err)
		err = fail(w, err, pier_strerror(err));
	return err ? err : send_dir(w, PIER__RECORD_LEAVE, &level->st);
}

static int step(struct walk *w)
{
	struct level *level = &w->level[w->depth - 1];
	const struct dirent *found;

	errno = 0;
	found = readdir(level->dir);
	if (!found)
		return leave(w, level, -errno);
	if (!strcmp(found->d_name, ".") || !strcmp(found->d_name, ".."))
		return 0;
	return send_name(w, level, found->d_name);
}

/* The name of the source, none if it is "." and the like. */
static void name_source(struct walk *w)
{
	struct pier__copy_entry *entry = &w->sender->entry;
	const char *name;

	entry->name_len = (uint32_t)pier__copy_name(w->path, &name);
	memcpy(entry->path, name, entry->name_len);
	entry->path[entry->name_len] = '\0';
}

static int walk(struct walk *w)
{
	int fd, err;

	name_source(w);
	fd = pier__copy_tree_open(&w->sender->tree, w->path, O_RDONLY, 0);
	if (fd < 0)
		return fail(w, fd, pier__copy_tree_error(fd));
	err = send_fd(w, fd);
	while (!err && w->depth)
		err = step(w);
	while (w->depth)
		closedir(w->level[--w->depth].dir);
	return err;
}

int pier__copy_sender_walk(struct pier__copy_sender *sender, const char *path)
{
	struct walk *w = calloc(1, sizeof(*w));
	int err;

	if (!w)
		return pier__fail(-ENOMEM, "copy: no memory for a source");
	w->sender = sender;
	pier__copy_trim(path, sender->tree.beneath, w->path);
	w->len = strlen(w->path);
	err = walk(w);
	free(w);
	return err;
}
