/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ops/service_file.h"
#include "t/lib/copier.h"
#include "t/lib/entries.h"
#include "t/lib/limit.h"
#include "t/lib/pair.h"
#include "t/lib/tap.h"

/* What other processes see of a service. */

#define LEN 4096

static char dir[] = "/tmp/pier-service-XXXXXX";
static struct pier_dev *dev;
static struct pair pair;

/* The one service of @pid; false: there is none. */
static bool see(int pid, struct pier_service *ret)
{
	struct pier_servicelist *list = NULL;
	size_t n;

	if (!IS(pier_servicelist_create(pid, &list), 0))
		return false;
	n = pier_servicelist_count(list);
	if (n)
		*ret = *pier_servicelist_get(list, 0);
	OK(n <= 1);
	OK(!pier_servicelist_get(list, n));
	pier_servicelist_destroy(list);
	return n;
}

static struct pier_dma_export *export(struct pier_mmap **mmap)
{
	struct pier_dma_export *exported = NULL;

	IS(pier_mmap_map(dev, NULL, LEN, PIER_PEER_READ, mmap), 0);
	IS(pier_dma_export_create(*mmap, dev, &exported), 0);
	return exported;
}

static void end(struct pier_dma_export *exported, struct pier_mmap *mmap)
{
	pier_dma_export_destroy(exported);
	pier_mmap_destroy(mmap);
}

static void it_is_seen_while_there_is_an_export(void)
{
	struct pier_service seen = { 0 };
	struct pier_dma_export *exported[2];
	struct pier_mmap *mmap[2];
	struct pier_gid gid;

	OK(!see(getpid(), &seen));
	exported[0] = export(&mmap[0]);
	if (!OK(see(getpid(), &seen)))
		return;
	IS(seen.pid, getpid());
	OK(*seen.program && strlen(seen.program) < sizeof(seen.program));
	IS_STR(seen.device, pier_devinfo_name(pier_dev_info(dev)));
	OK(seen.port);
	IS(pier_devinfo_gid(pier_dev_info(dev), 0, &gid), 0);
	OK(seen.address_count && strlen(seen.address[0]) > 1);
	IS(seen.exports, 1);
	IS(seen.peers, 0);
	IS(seen.refused, 0);
	exported[1] = export(&mmap[1]);
	OK(see(0, &seen));
	IS(seen.exports, 2);
	end(exported[0], mmap[0]);
	OK(see(0, &seen));
	IS(seen.exports, 1);
	end(exported[1], mmap[1]);
	OK(!see(0, &seen));
	IS(entries_in(dir), 0);
}

/* Its keys are those of one protection domain, which is the open device's. */
static void a_device_that_is_open_twice_has_two(void)
{
	struct pier_servicelist *list = NULL;
	struct pier_dma_export *exported[2];
	struct pier_mmap *mmap[2];
	struct pier_dev *first = dev, *again;
	struct pier_service seen;

	if (!IS(pier_dev_open(NULL, &again), 0))
		return;
	exported[0] = export(&mmap[0]);
	dev = again;
	exported[1] = export(&mmap[1]);
	dev = first;
	IS(pier_servicelist_create(getpid(), &list), 0);
	if (IS(pier_servicelist_count(list), 2)) {
		const struct pier_service *one = pier_servicelist_get(list, 0);
		const struct pier_service *other = pier_servicelist_get(list,
									1);

		IS_STR(one->device, other->device);
		OK(one->port != other->port);
		IS(one->exports, 1);
		IS(other->exports, 1);
	}
	pier_servicelist_destroy(list);
	end(exported[0], mmap[0]);
	OK(see(0, &seen));
	end(exported[1], mmap[1]);
	OK(!see(0, &seen));
	pier_dev_close(again);
}

/* How many sockets of this process have port @port. */
static int sockets_on(uint16_t port)
{
	struct sockaddr_in6 addr;	/* the port of IPv4 is at its place */
	int n = 0;

	for (int fd = 0; fd < 1024; fd++) {
		socklen_t len = sizeof(addr);

		n += !getsockname(fd, (struct sockaddr *)&addr, &len) &&
		     (addr.sin6_family == AF_INET6 ||
		      addr.sin6_family == AF_INET) &&
		     ntohs(addr.sin6_port) == port;
	}
	return n;
}

/* Which another program needs to be reached by RoCE devices. */
static void it_does_not_take_port_4791(void)
{
	struct pier_service seen = { 0 };
	struct pier_dma_export *exported;
	struct pier_mmap *mmap;

	exported = export(&mmap);
	OK(see(getpid(), &seen));
	if (!strcmp(pier_devinfo_kind(pier_dev_info(dev)), "soft"))
		OK(sockets_on(seen.port));
	IS(sockets_on(4791), 0);
	end(exported, mmap);
}

/* Wait until there are @peers. */
static bool has_peers(uint32_t peers, struct pier_service *ret)
{
	long long limit = limit_from_now();

	while (see(getpid(), ret) && ret->peers != peers)
		if (!limit_nap(limit))
			return false;
	return ret->peers == peers;
}

/* Copy what @remote is of an export; the status of the task. */
static int copy(struct copier *c, struct pier_mmap *remote)
{
	struct pier_buf *src = NULL, *dst = copier_tail(c, 0, LEN);
	int status;

	IS(pier_buf_by_data(c->inv, remote, pier_mmap_addr(remote), LEN, &src),
	   0);
	status = copier_copy(c, src, dst);
	pier_buf_put(src);
	pier_buf_put(dst);
	return status;
}

static void peers_and_those_it_refuses_are_counted(void)
{
	struct pier_dma_export *exported[2];
	struct pier_mmap *mmap[2], *remote[2] = { NULL };
	struct pier_service seen = { 0 };
	struct copier c;

	if (!copier_open(&c, dev, NULL, LEN))
		return;
	for (int i = 0; i < 2; i++) {
		const void *desc;
		size_t len;

		exported[i] = export(&mmap[i]);
		pier_dma_export_desc(exported[i], &desc, &len);
		IS(pier_dma_import(dev, desc, len, &remote[i]), 0);
	}
	end(exported[1], mmap[1]);	/* its descriptor is not valid now */
	IS(copy(&c, remote[0]), 0);
	OK(has_peers(1, &seen));
	IS(seen.refused, 0);
	OK(copy(&c, remote[1]) < 0);
	OK(has_peers(1, &seen));
	OK(seen.refused > 0);
	pier_mmap_destroy(remote[1]);
	pier_mmap_destroy(remote[0]);
	copier_close(&c);
	OK(has_peers(0, &seen));
	end(exported[0], mmap[0]);
}

/* Export, until killed. */
static int exporter(struct pair *me, void *arg)
{
	struct pier_mmap *mmap = NULL;
	char word;

	(void)arg;
	if (pier_dev_open(NULL, &dev))
		return 1;
	export(&mmap);
	pair_send(me, "", 1);
	return pair_recv(me, &word, 1) != 1;
}

static void that_of_a_killed_process_is_removed(void)
{
	struct pier_service seen = { 0 };
	char word;

	IS(pair_recv(&pair, &word, 1), 1);
	OK(see(pair.pid, &seen));
	IS(seen.pid, pair.pid);
	OK(!see(getpid(), &seen));
	IS(entries_in(dir), 1);
	pair_kill(&pair);
	OK(!see(pair.pid, &seen));
	IS(entries_in(dir), 0);
}

/* A file of that name with @image in it, locked as by its process. */
static int forge(int pid, const struct pier__service_image *image, size_t len,
		 mode_t mode)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/pier-service.%u.%d.77", dir,
		 (unsigned int)geteuid(), pid);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
	OK(fd >= 0 && !flock(fd, LOCK_EX | LOCK_NB));
	IS(write(fd, image, len), (ssize_t)len);
	return fd;
}

static void forget(int fd)
{
	struct pier_service seen;

	close(fd);
	OK(!see(0, &seen));		/* it is removed by this */
	IS(entries_in(dir), 0);
}

static void what_is_no_file_of_a_service_is_not_shown(void)
{
	const struct pier__service_image good = {
		.magic = PIER__SERVICE_FILE_MAGIC,
		.version = PIER__SERVICE_FILE_VERSION,
		.size = sizeof(good),
		.service = { .pid = 77, .address_count = 1 },
	};
	struct pier__service_image image = good;
	struct pier_service seen;
	int fd;

	memset(image.service.program, 27, sizeof(image.service.program));
	memset(image.service.address, 'a', sizeof(image.service.address));
	fd = forge(77, &image, sizeof(image), 0600);
	if (OK(see(77, &seen))) {
		IS_STR(seen.program, "???????????????");
		IS(strlen(seen.address[0]), sizeof(seen.address[0]) - 1);
	}
	OK(!see(78, &seen));
	forget(fd);
	fd = forge(78, &good, sizeof(good), 0600);	/* another process */
	OK(!see(0, &seen));
	forget(fd);
	fd = forge(77, &good, sizeof(good) - 1, 0600);
	OK(!see(0, &seen));
	forget(fd);
	image.version++;
	fd = forge(77, &image, sizeof(image), 0600);
	OK(!see(0, &seen));
	forget(fd);
	image = good;
	image.service.address_count = PIER_SERVICE_ADDRESSES + 1;
	fd = forge(77, &image, sizeof(image), 0600);
	OK(!see(0, &seen));
	forget(fd);
	image = good;
	image.magic[0]++;
	fd = forge(77, &image, sizeof(image), 0600);
	OK(!see(0, &seen));
	forget(fd);
}

static void without_a_directory_it_is_not_seen(void)
{
	struct pier_dma_export *exported;
	struct pier_service seen;
	struct pier_mmap *mmap;

	pier__service_dir = "/nowhere/at/all";
	exported = export(&mmap);
	OK(!see(0, &seen));
	end(exported, mmap);
	pier__service_dir = dir;
}

int main(void)
{
	if (!mkdtemp(dir))
		return 99;
	pier__service_dir = dir;
	pair_start(&pair, exporter, NULL);
	TEST(that_of_a_killed_process_is_removed);
	if (!OK(!pier_dev_open(NULL, &dev)))
		return tap_done();
	TEST(it_is_seen_while_there_is_an_export);
	TEST(a_device_that_is_open_twice_has_two);
	TEST(it_does_not_take_port_4791);
	TEST(peers_and_those_it_refuses_are_counted);
	TEST(what_is_no_file_of_a_service_is_not_shown);
	TEST(without_a_directory_it_is_not_seen);
	pier_dev_close(dev);
	rmdir(dir);
	return tap_done();
}
