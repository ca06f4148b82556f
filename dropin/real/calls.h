/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_DROPIN_REAL_CALLS_H
#define PIER_DROPIN_REAL_CALLS_H

#include <infiniband/verbs.h>

/* Of rdma-core from 59 on: the header may be older. */
struct ibv_buf;
struct ibv_dmah;			/* begins with its context */
struct ibv_dmah_init_attr;
struct ibv_mr_init_attr;
void *ibv_alloc_buf(struct ibv_pd *pd, size_t size, struct ibv_buf **ret);
struct ibv_dmah *ibv_alloc_dmah(struct ibv_context *context,
				struct ibv_dmah_init_attr *attr);
int ibv_dealloc_dmah(struct ibv_dmah *dmah);
int ibv_dm_export_dmabuf_fd(struct ibv_dm *dm);
void ibv_free_buf(struct ibv_buf *buf);
int ibv_query_port_speed(struct ibv_context *context, uint32_t port_num,
			 uint64_t *ret);
struct ibv_mr *ibv_reg_buf_mr(struct ibv_pd *pd, struct ibv_buf *buf,
			      void *addr, size_t length, int access);
struct ibv_mr *ibv_reg_mr_ex(struct ibv_pd *pd, struct ibv_mr_init_attr *attr);

/*
 * The calls of libibverbs that belong to one device, which is that of their
 * first argument: the library of soft devices has each of them as
 * pier__soft_ibv_NAME(), the real library as ibv_NAME(), and what programs call
 * is one of these (real/forward.c).
 *
 * X(KIND, TYPE, NAME, PARAMETERS, ARGUMENTS, DEVICE): KIND is what stands for a
 * call that the real library does not have: FAILS returns EOPNOTSUPP, NEGATIVE
 * and NONE return -1 and NULL with that errno.  V(NAME, PARAMETERS, ARGUMENTS,
 * DEVICE): one that returns nothing.
 */
#define DROPIN_DEVICE_CALLS(X) \
	X(NONE, const char *, ibv_get_device_name, \
	  (struct ibv_device *device), (device), device) \
	X(NEGATIVE, int, ibv_get_device_index, \
	  (struct ibv_device *device), (device), device) \
	X(FAILS, __be64, ibv_get_device_guid, \
	  (struct ibv_device *device), (device), device) \
	X(NONE, struct ibv_context *, ibv_open_device, \
	  (struct ibv_device *device), (device), device)

#define DROPIN_CONTEXT_CALLS(X) \
	X(FAILS, int, ibv_close_device, \
	  (struct ibv_context *context), (context), context->device) \
	X(NEGATIVE, int, ibv_get_async_event, \
	  (struct ibv_context *context, struct ibv_async_event *event), \
	  (context, event), context->device) \
	X(FAILS, int, ibv_query_device, \
	  (struct ibv_context *context, struct ibv_device_attr *ret), \
	  (context, ret), context->device) \
	X(FAILS, int, ibv_query_port, \
	  (struct ibv_context *context, uint8_t port_num, \
	   struct _compat_ibv_port_attr *ret), \
	  (context, port_num, ret), context->device) \
	X(NEGATIVE, int, ibv_query_gid, \
	  (struct ibv_context *context, uint8_t port_num, int index, \
	   union ibv_gid *ret), \
	  (context, port_num, index, ret), context->device) \
	X(FAILS, int, _ibv_query_gid_ex, \
	  (struct ibv_context *context, uint32_t port_num, uint32_t index, \
	   struct ibv_gid_entry *ret, uint32_t flags, size_t size), \
	  (context, port_num, index, ret, flags, size), context->device) \
	X(NEGATIVE, ssize_t, _ibv_query_gid_table, \
	  (struct ibv_context *context, struct ibv_gid_entry *entries, \
	   size_t max, uint32_t flags, size_t size), \
	  (context, entries, max, flags, size), context->device) \
	X(NEGATIVE, int, ibv_query_gid_type, \
	  (struct ibv_context *context, uint8_t port_num, \
	   unsigned int index, int *type), \
	  (context, port_num, index, type), context->device) \
	X(NEGATIVE, int, ibv_query_pkey, \
	  (struct ibv_context *context, uint8_t port_num, int index, \
	   __be16 *ret), \
	  (context, port_num, index, ret), context->device) \
	X(NEGATIVE, int, ibv_get_pkey_index, \
	  (struct ibv_context *context, uint8_t port_num, __be16 pkey), \
	  (context, port_num, pkey), context->device) \
	X(FAILS, int, ibv_query_port_speed, \
	  (struct ibv_context *context, uint32_t port_num, uint64_t *ret), \
	  (context, port_num, ret), context->device) \
	X(NONE, struct ibv_dmah *, ibv_alloc_dmah, \
	  (struct ibv_context *context, struct ibv_dmah_init_attr *attr), \
	  (context, attr), context->device) \
	X(FAILS, int, ibv_resolve_eth_l2_from_gid, \
	  (struct ibv_context *context, struct ibv_ah_attr *attr, \
	   uint8_t eth_mac[ETHERNET_LL_SIZE], uint16_t *vid), \
	  (context, attr, eth_mac, vid), context->device) \
	X(NONE, struct ibv_pd *, ibv_alloc_pd, \
	  (struct ibv_context *context), (context), context->device) \
	X(NONE, struct ibv_pd *, ibv_import_pd, \
	  (struct ibv_context *context, uint32_t handle), \
	  (context, handle), context->device) \
	X(NONE, struct ibv_dm *, ibv_import_dm, \
	  (struct ibv_context *context, uint32_t handle), \
	  (context, handle), context->device) \
	X(NONE, struct ibv_comp_channel *, ibv_create_comp_channel, \
	  (struct ibv_context *context), (context), context->device) \
	X(NONE, struct ibv_cq *, ibv_create_cq, \
	  (struct ibv_context *context, int cqe, void *cq_context, \
	   struct ibv_comp_channel *channel, int vector), \
	  (context, cqe, cq_context, channel, vector), context->device) \
	X(NEGATIVE, int, ibv_init_ah_from_wc, \
	  (struct ibv_context *context, uint8_t port_num, \
	   struct ibv_wc *wc, struct ibv_grh *grh, \
	   struct ibv_ah_attr *attr), \
	  (context, port_num, wc, grh, attr), context->device)

#define DROPIN_PD_CALLS(X) \
	X(FAILS, int, ibv_dealloc_pd, \
	  (struct ibv_pd *pd), (pd), pd->context->device) \
	X(NONE, struct ibv_mr *, ibv_reg_mr, \
	  (struct ibv_pd *pd, void *addr, size_t length, int access), \
	  (pd, addr, length, access), pd->context->device) \
	X(NONE, struct ibv_mr *, ibv_reg_mr_iova, \
	  (struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, \
	   int access), \
	  (pd, addr, length, iova, access), pd->context->device) \
	X(NONE, struct ibv_mr *, ibv_reg_mr_iova2, \
	  (struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, \
	   unsigned int access), \
	  (pd, addr, length, iova, access), pd->context->device) \
	X(NONE, struct ibv_mr *, ibv_reg_dmabuf_mr, \
	  (struct ibv_pd *pd, uint64_t offset, size_t length, \
	   uint64_t iova, int fd, int access), \
	  (pd, offset, length, iova, fd, access), pd->context->device) \
	X(NONE, struct ibv_mr *, ibv_reg_mr_ex, \
	  (struct ibv_pd *pd, struct ibv_mr_init_attr *attr), \
	  (pd, attr), pd->context->device) \
	X(NONE, void *, ibv_alloc_buf, \
	  (struct ibv_pd *pd, size_t size, struct ibv_buf **ret), \
	  (pd, size, ret), pd->context->device) \
	X(NONE, struct ibv_mr *, ibv_reg_buf_mr, \
	  (struct ibv_pd *pd, struct ibv_buf *buf, void *addr, \
	   size_t length, int access), \
	  (pd, buf, addr, length, access), pd->context->device) \
	X(FAILS, int, ibv_dealloc_dmah, \
	  (struct ibv_dmah *dmah), (dmah), \
	  (*(struct ibv_context **)dmah)->device) \
	X(NEGATIVE, int, ibv_dm_export_dmabuf_fd, \
	  (struct ibv_dm *dm), (dm), dm->context->device) \
	X(NONE, struct ibv_mr *, ibv_import_mr, \
	  (struct ibv_pd *pd, uint32_t handle), \
	  (pd, handle), pd->context->device) \
	X(NONE, struct ibv_ah *, ibv_create_ah, \
	  (struct ibv_pd *pd, struct ibv_ah_attr *attr), \
	  (pd, attr), pd->context->device) \
	X(NONE, struct ibv_ah *, ibv_create_ah_from_wc, \
	  (struct ibv_pd *pd, struct ibv_wc *wc, struct ibv_grh *grh, \
	   uint8_t port_num), \
	  (pd, wc, grh, port_num), pd->context->device) \
	X(NONE, struct ibv_qp *, ibv_create_qp, \
	  (struct ibv_pd *pd, struct ibv_qp_init_attr *init), \
	  (pd, init), pd->context->device) \
	X(NONE, struct ibv_srq *, ibv_create_srq, \
	  (struct ibv_pd *pd, struct ibv_srq_init_attr *init), \
	  (pd, init), pd->context->device) \
	X(FAILS, int, ibv_rereg_mr, \
	  (struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *addr, \
	   size_t length, int access), \
	  (mr, flags, pd, addr, length, access), mr->context->device) \
	X(FAILS, int, ibv_dereg_mr, \
	  (struct ibv_mr *mr), (mr), mr->context->device) \
	X(FAILS, int, ibv_destroy_ah, \
	  (struct ibv_ah *ah), (ah), ah->context->device)

#define DROPIN_QUEUE_CALLS(X) \
	X(FAILS, int, ibv_destroy_comp_channel, \
	  (struct ibv_comp_channel *channel), \
	  (channel), channel->context->device) \
	X(NEGATIVE, int, ibv_get_cq_event, \
	  (struct ibv_comp_channel *channel, struct ibv_cq **ret, \
	   void **ret_context), \
	  (channel, ret, ret_context), channel->context->device) \
	X(FAILS, int, ibv_resize_cq, \
	  (struct ibv_cq *cq, int cqe), (cq, cqe), cq->context->device) \
	X(FAILS, int, ibv_destroy_cq, \
	  (struct ibv_cq *cq), (cq), cq->context->device) \
	X(FAILS, int, ibv_modify_srq, \
	  (struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask), \
	  (srq, attr, mask), srq->context->device) \
	X(FAILS, int, ibv_query_srq, \
	  (struct ibv_srq *srq, struct ibv_srq_attr *ret), \
	  (srq, ret), srq->context->device) \
	X(FAILS, int, ibv_destroy_srq, \
	  (struct ibv_srq *srq), (srq), srq->context->device) \
	X(FAILS, int, ibv_modify_qp, \
	  (struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask), \
	  (qp, attr, mask), qp->context->device) \
	X(FAILS, int, ibv_query_qp, \
	  (struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask, \
	   struct ibv_qp_init_attr *init), \
	  (qp, attr, mask, init), qp->context->device) \
	X(FAILS, int, ibv_query_qp_data_in_order, \
	  (struct ibv_qp *qp, enum ibv_wr_opcode op, uint32_t flags), \
	  (qp, op, flags), qp->context->device) \
	X(FAILS, int, ibv_set_ece, \
	  (struct ibv_qp *qp, struct ibv_ece *ece), \
	  (qp, ece), qp->context->device) \
	X(FAILS, int, ibv_query_ece, \
	  (struct ibv_qp *qp, struct ibv_ece *ece), \
	  (qp, ece), qp->context->device) \
	X(NONE, struct ibv_qp_ex *, ibv_qp_to_qp_ex, \
	  (struct ibv_qp *qp), (qp), qp->context->device) \
	X(FAILS, int, ibv_attach_mcast, \
	  (struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid), \
	  (qp, gid, lid), qp->context->device) \
	X(FAILS, int, ibv_detach_mcast, \
	  (struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid), \
	  (qp, gid, lid), qp->context->device) \
	X(FAILS, int, ibv_destroy_qp, \
	  (struct ibv_qp *qp), (qp), qp->context->device)

#define DROPIN_VOID_CALLS(V) \
	V(ibv_ack_cq_events, \
	  (struct ibv_cq *cq, unsigned int count), \
	  (cq, count), cq->context->device) \
	V(ibv_unimport_pd, (struct ibv_pd *pd), (pd), pd->context->device) \
	V(ibv_unimport_mr, (struct ibv_mr *mr), (mr), mr->context->device) \
	V(ibv_unimport_dm, (struct ibv_dm *dm), (dm), dm->context->device)

#define DROPIN_CALLS(X) \
	DROPIN_DEVICE_CALLS(X) \
	DROPIN_CONTEXT_CALLS(X) \
	DROPIN_PD_CALLS(X) \
	DROPIN_QUEUE_CALLS(X)

/*
 * Those that belong to no device: the list has the real devices first, fork(2)
 * is a matter of theirs, and so are devices to import.  Parameters alone.
 */
#define DROPIN_OTHER_CALLS(X) \
	X(NONE, struct ibv_device **, ibv_get_device_list, \
	  (int *num_devices), , ) \
	X(FAILS, int, ibv_fork_init, (void), , ) \
	X(FAILS, int, ibv_dontfork_range, (void *base, size_t size), , ) \
	X(FAILS, int, ibv_dofork_range, (void *base, size_t size), , ) \
	X(FAILS, enum ibv_fork_status, ibv_is_fork_initialized, (void), , ) \
	X(NONE, struct ibv_context *, ibv_import_device, (int fd), , )

#define DROPIN_OTHER_VOID_CALLS(V) \
	V(ibv_free_buf, (struct ibv_buf *buf), , ) \
	V(ibv_free_device_list, (struct ibv_device **list), , ) \
	V(ibv_ack_async_event, (struct ibv_async_event *event), , )

/*
 * Calls that the header makes by a pointer of the context, and that set errno:
 * those that return a pointer.  X(TYPE, NAME, MEMBER, PARAMETERS, ARGUMENTS,
 * CONTEXT): MEMBER is that of struct verbs_context.  The first argument is the
 * context, or an object of it.
 */
#define DROPIN_CONTEXT_POINTERS(X) \
	X(struct ibv_dm *, alloc_dm, alloc_dm, \
	  (struct ibv_context *context, struct ibv_alloc_dm_attr *attr), \
	  (context, attr), context) \
	X(struct ibv_pd *, alloc_parent_domain, alloc_parent_domain, \
	  (struct ibv_context *context, \
	   struct ibv_parent_domain_init_attr *attr), \
	  (context, attr), context) \
	X(struct ibv_td *, alloc_td, alloc_td, \
	  (struct ibv_context *context, struct ibv_td_init_attr *attr), \
	  (context, attr), context) \
	X(struct ibv_counters *, create_counters, create_counters, \
	  (struct ibv_context *context, struct ibv_counters_init_attr *attr), \
	  (context, attr), context) \
	X(struct ibv_cq_ex *, create_cq_ex, create_cq_ex, \
	  (struct ibv_context *context, struct ibv_cq_init_attr_ex *attr), \
	  (context, attr), context) \
	X(struct ibv_flow_action *, create_flow_action_esp, \
	  create_flow_action_esp, \
	  (struct ibv_context *context, \
	   struct ibv_flow_action_esp_attr *attr), \
	  (context, attr), context) \
	X(struct ibv_qp *, create_qp_ex, create_qp_ex, \
	  (struct ibv_context *context, struct ibv_qp_init_attr_ex *attr), \
	  (context, attr), context) \
	X(struct ibv_rwq_ind_table *, create_rwq_ind_table, \
	  create_rwq_ind_table, \
	  (struct ibv_context *context, \
	   struct ibv_rwq_ind_table_init_attr *attr), \
	  (context, attr), context) \
	X(struct ibv_srq *, create_srq_ex, create_srq_ex, \
	  (struct ibv_context *context, struct ibv_srq_init_attr_ex *attr), \
	  (context, attr), context) \
	X(struct ibv_wq *, create_wq, create_wq, \
	  (struct ibv_context *context, struct ibv_wq_init_attr *attr), \
	  (context, attr), context) \
	X(struct ibv_qp *, open_qp, open_qp, \
	  (struct ibv_context *context, struct ibv_qp_open_attr *attr), \
	  (context, attr), context) \
	X(struct ibv_xrcd *, open_xrcd, open_xrcd, \
	  (struct ibv_context *context, struct ibv_xrcd_init_attr *attr), \
	  (context, attr), context)

#define DROPIN_OBJECT_POINTERS(X) \
	X(struct ibv_mw *, alloc_mw, context.ops.alloc_mw, \
	  (struct ibv_pd *pd, enum ibv_mw_type type), \
	  (pd, type), pd->context) \
	X(struct ibv_mr *, alloc_null_mr, alloc_null_mr, \
	  (struct ibv_pd *pd), (pd), pd->context) \
	X(struct ibv_flow *, create_flow, ibv_create_flow, \
	  (struct ibv_qp *qp, struct ibv_flow_attr *attr), \
	  (qp, attr), qp->context) \
	X(struct ibv_mr *, reg_dm_mr, reg_dm_mr, \
	  (struct ibv_pd *pd, struct ibv_dm *dm, uint64_t offset, \
	   size_t length, unsigned int access), \
	  (pd, dm, offset, length, access), pd->context)

#define DROPIN_POINTERS(X) \
	DROPIN_CONTEXT_POINTERS(X) \
	DROPIN_OBJECT_POINTERS(X)

#endif
