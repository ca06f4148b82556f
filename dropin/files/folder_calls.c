/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The calls of the C library that list folders, in front of those: of a folder
 * of soft devices the program gets a stream of another one, and its names from
 * here.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "dropin/files/files.h"
#include "dropin/real/real.h"

#define OTHER "/"

/* Of an entry: callers of readdir_r() may have no more space. */
#define LENGTH(type, name) \
	((unsigned short)(offsetof(type, d_name) + strlen(name) + 1))

/* A stream in place of that of a soft device's folder. */
struct listing {
	struct listing *next;
	DIR *dir;
	struct dropin_names names;
	size_t at;
	struct dirent entry;
#ifdef __GLIBC__
	struct dirent64 entry64;
#endif
};

typedef DIR *opendir_call(const char *path);
typedef int closedir_call(DIR *dir);
typedef void rewinddir_call(DIR *dir);
typedef void *readdir_call(DIR *dir);
typedef int readdir_r_call(DIR *dir, struct dirent *entry,
			   struct dirent **ret);
#ifdef __GLIBC__
typedef int readdir64_r_call(DIR *dir, struct dirent64 *entry,
			     struct dirent64 **ret);
#endif

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct listing *listings;	/* with the lock */
static atomic_int count;

void pier__dropin_next(void *ret, const char *name)
{
	void *call;

	memcpy(&call, ret, sizeof(call));
	if (call)
		return;
	call = dlsym(RTLD_NEXT, name);
	memcpy(ret, &call, sizeof(call));
}

/* Also around fork(2): the streams of a parent are those of its child. */
static void take(void)
{
	pthread_mutex_lock(&lock);
}

static void give(void)
{
	pthread_mutex_unlock(&lock);
}

__attribute__((constructor)) static void follow_forks(void)
{
	pthread_atfork(take, give, give);
}

/* That of @dir, which is the program's; NULL: an ordinary one. */
static struct listing *listing_of(DIR *dir)
{
	struct listing *listing;

	if (!atomic_load(&count))
		return NULL;
	take();
	for (listing = listings; listing; listing = listing->next)
		if (listing->dir == dir)
			break;
	give();
	return listing;
}

static void add(struct listing *listing)
{
	take();
	listing->next = listings;
	listings = listing;
	atomic_fetch_add(&count, 1);
	give();
}

static void drop(struct listing *listing)
{
	struct listing **at;

	take();
	for (at = &listings; *at != listing; at = &(*at)->next)
		;
	*at = listing->next;
	atomic_fetch_sub(&count, 1);
	give();
	free(listing->names.name);
	free(listing);
}

/* What is there besides soft devices. */
static void add_real(struct dropin_names *names, const char *path,
		     opendir_call *open)
{
	static closedir_call *end;
	static readdir_call *next;
	const struct dirent *entry;
	DIR *dir = open(path);

	pier__dropin_next(&next, "readdir");
	pier__dropin_next(&end, "closedir");
	if (!dir)
		return;
	while ((entry = next(dir)))
		if (entry->d_name[0] != '.')
			pier__dropin_names_add(names, entry->d_name,
					       strlen(entry->d_name));
	end(dir);
}

/* The names of real devices come first. */
static void join(struct dropin_names *names, const char *path,
		 opendir_call *open)
{
	struct dropin_names all = { 0 };
	size_t i;

	if (!pier__dropin_real())
		return;
	add_real(&all, path, open);
	for (i = 0; i < names->count; i++)
		pier__dropin_names_add(&all, names->name[i],
				       strlen(names->name[i]));
	free(names->name);
	*names = all;
}

DIR *opendir(const char *path)
{
	static opendir_call *call;
	struct dropin_names names;
	struct listing *listing;
	struct dropin_file file;
	DIR *dir;

	pier__dropin_next(&call, "opendir");
	if (!pier__dropin_folder(path, &names)) {
		dir = call(pier__dropin_file_open(path, &file));
		pier__dropin_file_close(&file);
		return dir;
	}
	join(&names, path, call);
	listing = calloc(1, sizeof(*listing));
	dir = listing ? call(OTHER) : NULL;
	if (!dir) {
		free(names.name);
		free(listing);
		return NULL;
	}
	listing->dir = dir;
	listing->names = names;
	add(listing);
	return dir;
}

int closedir(DIR *dir)
{
	static closedir_call *call;
	struct listing *listing = listing_of(dir);

	pier__dropin_next(&call, "closedir");
	if (listing)
		drop(listing);
	return call(dir);
}

void rewinddir(DIR *dir)
{
	static rewinddir_call *call;
	struct listing *listing = listing_of(dir);

	pier__dropin_next(&call, "rewinddir");
	if (listing)
		listing->at = 0;
	call(dir);
}

/* The next name; NULL: there is none. */
static const char *next_name(struct listing *listing)
{
	if (listing->at == listing->names.count)
		return NULL;
	return listing->names.name[listing->at++];
}

/* Returns NULL: there is none. */
static struct dirent *next_entry(struct listing *listing)
{
	const char *name = next_name(listing);

	if (!name)
		return NULL;
	listing->entry.d_ino = listing->at;
	listing->entry.d_reclen = LENGTH(struct dirent, name);
	listing->entry.d_type = DT_UNKNOWN;
	strcpy(listing->entry.d_name, name);
	return &listing->entry;
}

struct dirent *readdir(DIR *dir)
{
	static readdir_call *call;
	struct listing *listing = listing_of(dir);

	pier__dropin_next(&call, "readdir");
	return listing ? next_entry(listing) : call(dir);
}

int readdir_r(DIR *restrict dir, struct dirent *restrict entry,
	      struct dirent **restrict ret)
{
	static readdir_r_call *call;
	struct listing *listing = listing_of(dir);

	pier__dropin_next(&call, "readdir_r");
	if (!listing)
		return call(dir, entry, ret);
	*ret = next_entry(listing);
	if (*ret)
		*ret = memcpy(entry, *ret, (*ret)->d_reclen);
	return 0;
}

/* musl has a macro of this name. */
#ifdef __GLIBC__

static struct dirent64 *next_entry64(struct listing *listing)
{
	const char *name = next_name(listing);

	if (!name)
		return NULL;
	listing->entry64.d_ino = listing->at;
	listing->entry64.d_reclen = LENGTH(struct dirent64, name);
	listing->entry64.d_type = DT_UNKNOWN;
	strcpy(listing->entry64.d_name, name);
	return &listing->entry64;
}

struct dirent64 *readdir64(DIR *dir)
{
	static readdir_call *call;
	struct listing *listing = listing_of(dir);

	pier__dropin_next(&call, "readdir64");
	return listing ? next_entry64(listing) : call(dir);
}

int readdir64_r(DIR *restrict dir, struct dirent64 *restrict entry,
		struct dirent64 **restrict ret)
{
	static readdir64_r_call *call;
	struct listing *listing = listing_of(dir);

	pier__dropin_next(&call, "readdir64_r");
	if (!listing)
		return call(dir, entry, ret);
	*ret = next_entry64(listing);
	if (*ret)
		*ret = memcpy(entry, *ret, (*ret)->d_reclen);
	return 0;
}

#endif
