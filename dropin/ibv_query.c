/* SPDX-License-Identifier: BSD-2-Clause */
/* What an opened device is and can do. */
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <pier/version.h>

#include "core/roce.h"
#include "dropin/dropin.h"
#include "fabric/soft/io/fdev.h"
#include "fabric/soft/rc/qpn.h"
#include "fabric/soft/soft.h"

#define PHYS_DISABLED 3		/* of the port's physical state, as IBTA has */
#define PHYS_LINK_UP 5
#define WIDTH_1X 1
#define GROUPS 20		/* of multicast, as sockets may be in */
#define SPEED_SDR 1		/* the kernel has no speed of such a device */
#define SPEED_1X_SDR 25		/* in 100 Mbit/s: that and WIDTH_1X */
#define NO_VENDOR 0xffffff	/* of none that has an OUI, as kernel drivers */
#define SYSFS_ROCE_V2 1		/* of the private call ibv_query_gid_type() */
#define SYSFS_NO_GID 0		/* which is RoCE v1, as rdma-core has it */

int ibv_query_gid_type(struct ibv_context *context, uint8_t port_num,
		       unsigned int index, int *type);

/* The port as it is now; as it was if that cannot be found out. */
static int port_now(struct ibv_context *context, uint32_t number,
		    struct pier__port *ret)
{
	struct soft_fdev *soft = (struct soft_fdev *)dropin_of(context)->fdev;

	if (number != 1)
		return EINVAL;
	pier__soft_dev.query(&soft->fdev);
	pthread_mutex_lock(&soft->lock);
	*ret = soft->fdev.port;
	pthread_mutex_unlock(&soft->lock);
	return 0;
}

static void fill_limits(const struct pier__limits *limits,
			struct ibv_device_attr *ret)
{
	ret->max_mr_size = limits->mmap;
	ret->max_qp = SOFT_QPN_EACH - 128;
	ret->max_qp_wr = (int)limits->send_wr;
	ret->max_sge = (int)(limits->send_sge < limits->recv_sge ?
			     limits->send_sge : limits->recv_sge);
	ret->max_sge_rd = ret->max_sge;
	ret->max_ah = 1 << 20;
	ret->max_cq = 1 << 16;
	ret->max_cqe = (int)limits->cqe;
	ret->max_mr = 1 << 20;
	ret->max_mw = 1 << 20;
	ret->max_pd = 1 << 16;
	ret->max_qp_rd_atom = (int)limits->rd_atomic;
	ret->max_qp_init_rd_atom = (int)limits->rd_atomic;
	ret->max_res_rd_atom = ret->max_qp * (int)limits->rd_atomic;
	ret->atomic_cap = limits->atomic_cpu ? IBV_ATOMIC_GLOB :
					       IBV_ATOMIC_HCA;
	ret->max_mcast_grp = GROUPS;
	ret->max_mcast_qp_attach = SOFT_GROUPS;
	ret->max_total_mcast_qp_attach = SOFT_GROUPS;
	ret->max_srq = 1 << 16;
	ret->max_srq_wr = (int)limits->srq_wr;
	ret->max_srq_sge = (int)limits->recv_sge;
	ret->max_pkeys = (uint16_t)limits->pkeys;
}

/* What is not there has a limit of 0. */
int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *ret)
{
	const struct pier__port *port = &dropin_of(context)->fdev->port;

	memset(ret, 0, sizeof(*ret));
	snprintf(ret->fw_ver, sizeof(ret->fw_ver), "%s", pier_version());
	ret->vendor_id = NO_VENDOR;
	ret->device_cap_flags = IBV_DEVICE_SRQ_RESIZE |
				IBV_DEVICE_MEM_WINDOW |
				IBV_DEVICE_MEM_WINDOW_TYPE_2B |
				IBV_DEVICE_MEM_MGT_EXTENSIONS;
	ret->node_guid = htobe64(port->guid);
	ret->sys_image_guid = ret->node_guid;
	ret->page_size_cap = (uint64_t)-sysconf(_SC_PAGESIZE);
	ret->phys_port_cnt = 1;
	fill_limits(&port->limits, ret);
	return 0;
}

/* Memory that is mapped later is as good as that which is now. */
static void fill_odp(struct ibv_device_attr_ex *ret)
{
	ret->odp_caps.general_caps = IBV_ODP_SUPPORT | IBV_ODP_SUPPORT_IMPLICIT;
	ret->odp_caps.per_transport_caps.rc_odp_caps =
		IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV |
		IBV_ODP_SUPPORT_WRITE | IBV_ODP_SUPPORT_READ |
		IBV_ODP_SUPPORT_ATOMIC | IBV_ODP_SUPPORT_SRQ_RECV;
	ret->odp_caps.per_transport_caps.ud_odp_caps =
		IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV;
}

/* A program that is older than the header has a shorter struct. */
int pier__dropin_query_device_ex(struct ibv_context *context,
				 const struct ibv_query_device_ex_input *input,
				 struct ibv_device_attr_ex *ret, size_t len)
{
	struct ibv_device_attr_ex attr = { 0 };

	if (len < sizeof(attr.orig_attr) || (input && input->comp_mask))
		return EINVAL;
	ibv_query_device(context, &attr.orig_attr);
	fill_odp(&attr);
	attr.device_cap_flags_ex = attr.orig_attr.device_cap_flags;
	attr.phys_port_cnt_ex = attr.orig_attr.phys_port_cnt;
	memset(ret, 0, len);
	memcpy(ret, &attr, len < sizeof(attr) ? len : sizeof(attr));
	return 0;
}

static void fill_port(const struct pier__port *port, struct ibv_port_attr *ret)
{
	ret->state = port->active ? IBV_PORT_ACTIVE : IBV_PORT_DOWN;
	ret->max_mtu = IBV_MTU_4096;
	ret->active_mtu = port->mtu;
	ret->gid_tbl_len = (int)pier__dropin_gid_end(port);
	ret->max_msg_sz = (uint32_t)port->limits.message;
	ret->pkey_tbl_len = (uint16_t)port->limits.pkeys;
	ret->max_vl_num = 1;
	ret->active_width = WIDTH_1X;
	ret->active_speed = SPEED_SDR;
	ret->phys_state = port->active ? PHYS_LINK_UP : PHYS_DISABLED;
	ret->link_layer = port->link_layer;
	ret->flags = IBV_QPF_GRH_REQUIRED;
}

/* A program that is older than the header has a shorter struct. */
int pier__dropin_query_port(struct ibv_context *context, uint8_t port_num,
			    struct ibv_port_attr *ret, size_t len)
{
	struct ibv_port_attr attr = { 0 };
	struct pier__port port;
	int err = port_now(context, port_num, &port);

	if (err)
		return err;
	fill_port(&port, &attr);
	memset(ret, 0, len);
	memcpy(ret, &attr, len < sizeof(attr) ? len : sizeof(attr));
	return 0;
}

/* The header's own call has a struct that ends before what came later. */
int ibv_query_port(struct ibv_context *context, uint8_t port_num,
		   struct _compat_ibv_port_attr *ret)
{
	return pier__dropin_query_port(context, port_num,
				       (struct ibv_port_attr *)ret,
				       offsetof(struct ibv_port_attr,
						port_cap_flags2));
}

int ibv_query_port_speed(struct ibv_context *context, uint32_t port_num,
			 uint64_t *ret)
{
	(void)context;
	if (port_num != 1)
		return EINVAL;
	*ret = SPEED_1X_SDR;
	return 0;
}

int ibv_query_gid(struct ibv_context *context, uint8_t port_num, int index,
		  union ibv_gid *ret)
{
	struct ibv_gid_entry entry;
	int err = _ibv_query_gid_ex(context, port_num, (uint32_t)index, &entry,
				    0, sizeof(entry));

	if (err == ENODATA) {	/* rdma-core returns the zero GID as well */
		memset(ret, 0, sizeof(*ret));
		return 0;
	}
	if (err) {
		errno = err;
		return -1;
	}
	*ret = entry.gid;
	return 0;
}

static void fill_gid(struct ibv_context *context, const struct pier_gid *gid,
		     struct ibv_gid_entry *ret)
{
	struct soft_fdev *soft = (struct soft_fdev *)dropin_of(context)->fdev;

	*ret = (struct ibv_gid_entry){
		.gid_index = gid->index,
		.port_num = 1,
		.gid_type = IBV_GID_TYPE_ROCE_V2,
		.ndev_ifindex = soft->ifindex,
	};
	memcpy(ret->gid.raw, gid->raw, sizeof(ret->gid.raw));
}

int _ibv_query_gid_ex(struct ibv_context *context, uint32_t port_num,
		      uint32_t index, struct ibv_gid_entry *ret,
		      uint32_t flags, size_t size)
{
	const struct pier_gid *gid;
	struct pier__port port;
	int err = port_now(context, port_num, &port);

	if (err)
		return err;
	if (flags || size < sizeof(*ret))
		return EOPNOTSUPP;
	gid = pier__dropin_gid(&port, index);
	if (!gid)
		return index < pier__dropin_gid_end(&port) ? ENODATA : EINVAL;
	memset(ret, 0, size);
	fill_gid(context, gid, ret);
	return 0;
}

ssize_t _ibv_query_gid_table(struct ibv_context *context,
			     struct ibv_gid_entry *entries, size_t max,
			     uint32_t flags, size_t size)
{
	const struct pier_gid *gid;
	struct pier__port port;
	uint32_t i, end, n = 0;

	if (flags || size < sizeof(*entries))
		return -EOPNOTSUPP;
	port_now(context, 1, &port);
	if (port.gid_count > max)
		return -EINVAL;
	end = pier__dropin_gid_end(&port);
	for (i = 0; i < end; i++) {
		gid = pier__dropin_gid(&port, i);
		if (gid)
			fill_gid(context, gid, (struct ibv_gid_entry *)
				 ((char *)entries + n++ * size));
	}
	return (ssize_t)n;
}

int ibv_query_gid_type(struct ibv_context *context, uint8_t port_num,
		       unsigned int index, int *type)
{
	struct pier__port port;
	int err = port_now(context, port_num, &port);

	if (err || index >= pier__dropin_gid_end(&port)) {
		errno = EINVAL;
		return -1;
	}
	*type = pier__dropin_gid(&port, index) ? SYSFS_ROCE_V2 : SYSFS_NO_GID;
	return 0;
}

int ibv_query_pkey(struct ibv_context *context, uint8_t port_num, int index,
		   __be16 *ret)
{
	(void)context;
	if (port_num != 1 || index) {
		errno = EINVAL;
		return -1;
	}
	*ret = htobe16(ROCE_PKEY_DEFAULT);
	return 0;
}

int ibv_get_pkey_index(struct ibv_context *context, uint8_t port_num,
		       __be16 pkey)
{
	(void)context;
	if (port_num == 1 && pkey == htobe16(ROCE_PKEY_DEFAULT))
		return 0;
	errno = ENOENT;
	return -1;
}
