/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/roce.h"
#include "t/lib/capture.h"
#include "t/lib/tap.h"

#define UDP_LEN 8

const char *capture_path(const char *name, const char *suffix)
{
	const char *dir = getenv("srcdir");
	static char path[512];

	snprintf(path, sizeof(path), "%s/t/data/roce/%s%s", dir ? dir : ".",
		 name, suffix);
	return path;
}

bool capture_open_path(const char *path, struct capture *ret)
{
	char error[PCAP_ERRBUF_SIZE];
	struct capture capture = { .file = pcap_open_offline(path, error) };
	int link;

	if (!capture.file) {
		tap_note("%s", error);
		return OK(!"opened the capture");
	}
	link = pcap_datalink(capture.file);
	capture.raw = link == DLT_RAW;
	if (!capture.raw && !IS(link, DLT_EN10MB)) {
		pcap_close(capture.file);
		return false;
	}
	*ret = capture;
	return true;
}

bool capture_open(const char *name, struct capture *ret)
{
	return capture_open_path(capture_path(name, ".pcap"), ret);
}

void capture_close(struct capture *capture)
{
	pcap_close(capture->file);
}

static unsigned int get16(const unsigned char *p)
{
	return p[0] << 8 | p[1];
}

/* Returns the UDP header of the IP packet, or NULL: something else. */
static const unsigned char *parse_ip(const unsigned char *ip, size_t len,
				     struct vnet_packet *packet)
{
	memset(&packet->src, 0, sizeof(packet->src));
	memset(&packet->dst, 0, sizeof(packet->dst));
	packet->id = 0;
	if (len >= 48 && ip[0] >> 4 == 6 && ip[6] == 17) {
		memcpy(&packet->src.ip, ip + 8, 16);
		memcpy(&packet->dst.ip, ip + 24, 16);
		return ip + 40;
	}
	if (ip[0] != 0x45 || ip[9] != 17)
		return NULL;
	packet->id = get16(ip + 4);
	memset(&packet->src.ip.s6_addr[10], 0xff, 2);
	memset(&packet->dst.ip.s6_addr[10], 0xff, 2);
	memcpy(&packet->src.ip.s6_addr[12], ip + 12, 4);
	memcpy(&packet->dst.ip.s6_addr[12], ip + 16, 4);
	return ip + 20;
}

static bool is_ip(const unsigned char *frame)
{
	return get16(frame + 12) == 0x0800 || get16(frame + 12) == 0x86dd;
}

bool capture_next(struct capture *capture, struct vnet_packet *ret)
{
	const unsigned char *frame, *udp;
	struct pcap_pkthdr *head;
	uint32_t link = capture->raw ? 0 : 14;
	int got;

	while ((got = pcap_next_ex(capture->file, &head, &frame)) > 0) {
		capture->frame++;
		capture->ip = frame + link;
		capture->ip_len = head->caplen - link;
		if (head->caplen < link + 44 || (link && !is_ip(frame)))
			continue;
		udp = parse_ip(capture->ip, capture->ip_len, ret);
		if (!udp || get16(udp + 2) != ROCE_UDP_PORT)
			continue;
		ret->src.port = get16(udp);
		ret->dst.port = get16(udp + 2);
		ret->len = get16(udp + 4) - UDP_LEN;
		if (ret->len > sizeof(ret->data) ||
		    udp + UDP_LEN + ret->len > frame + head->caplen)
			continue;
		memcpy(ret->data, udp + UDP_LEN, ret->len);
		return true;
	}
	capture->whole = got == PCAP_ERROR_BREAK;
	return false;
}
