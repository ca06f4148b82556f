/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names that the libraries of vendors are bound to, which programs load with
 * them, and the first version of calls, from before 2007: they fail, each group
 * in the way that its callers check.
 */
#include <errno.h>
#include <stdbool.h>

#include "dropin/dropin.h"
#include "dropin/private.h"

int pier__dropin_fails(void);
int pier__dropin_negative(void);
void *pier__dropin_none(void);
uint64_t pier__dropin_no_guid(void);
void pier__dropin_ignores(void);

/*
 * A variable, which rdma-core's own library sets if a program loads that by its
 * path.
 */
extern bool verbs_allow_disassociate_destroy;
bool verbs_allow_disassociate_destroy;

int pier__dropin_fails(void)
{
	return EOPNOTSUPP;
}

int pier__dropin_negative(void)
{
	errno = EOPNOTSUPP;
	return -1;
}

void *pier__dropin_none(void)
{
	return pier__dropin_null(-EOPNOTSUPP);
}

uint64_t pier__dropin_no_guid(void)
{
	return 0;
}

void pier__dropin_ignores(void)
{
}

PRIVATE_SINCE_34(pier__dropin_fails, execute_ioctl);
PRIVATE_SINCE_34(pier__dropin_fails, ibv_cmd_advise_mr);
PRIVATE_SINCE_34(pier__dropin_fails, ibv_cmd_alloc_dm);
PRIVATE_SINCE_59(pier__dropin_fails, ibv_cmd_alloc_dmah);
PRIVATE_SINCE_34(pier__dropin_fails, ibv_cmd_alloc_mw);
PRIVATE_SINCE_34(pier__dropin_fails, ibv_cmd_alloc_pd);
PRIVATE_SINCE_34(pier__dropin_fails, ibv_cmd_attach_mcast);
PRIVATE_SINCE_34(pier__dropin_fails, ibv_cmd_close_xrcd);
PRIVATE_SINCE_34(pier__dropin_fails, ibv_cmd_create_ah);
PRIVATE_SINCE_34(pier__dropin_fails, ibv_cmd_create_counters);
PRIVATE_SINCE_34(pier__dropin_fails, ibv_cmd_create_cq);
PRIVATE_SINCE_34(pier__dropin_fails, ibv_cmd_create_cq_ex);
PRIVATE_SINCE_34(pier__dropin_fails, ibv_cmd_create_cq_ex2);
PRIVATE_SINCE_34(pier__dropin_fails, ibv_cmd_create_flow);
PRIVATE_SINCE_34(pier__dropin_fails, ibv_cmd_create_flow_action_esp);
PRIVATE_SINCE_34(pier__dropin_fails, ibv_cmd_create_qp);
PRIVATE_SINCE_34(pier__dropin_fails, ibv_cmd_create_qp_ex);
PRIVATE_SINCE_34(pier__dropin_fails, ibv_cmd_create_qp_ex2);
PRIVATE_SINCE_34(pier__dropin_fails, ibv_cmd_create_rwq_ind_table);
PRIVATE_SINCE_34(pier__dropin_fails, ibv_cmd_create_srq);
PRIVATE_SINCE_34(pier__dropin_fails, ibv_cmd_create_srq_ex);
PRIVATE_SINCE_34(pier__dropin_fails, ibv_cmd_create_wq);
PRIVATE_SINCE_34(pier__dropin_fails, ibv_cmd_dealloc_mw);
PRIVATE_SINCE_34(pier__dropin_fails, ibv_cmd_dealloc_pd);
PRIVATE_SINCE_34(pier__dropin_fails, ibv_cmd_dereg_mr);
PRIVATE_SINCE_34(pier__dropin_fails, ibv_cmd_destroy_ah);
PRIVATE_SINCE_34(pier__dropin_fails, ibv_cmd_destroy_counters);
PRIVATE_SINCE_34(pier__dropin_fails, ibv_cmd_destroy_cq);
PRIVATE_SINCE_34(pier__dropin_fails, ibv_cmd_destroy_flow);
PRIVATE_SINCE_34(pier__dropin_fails, ibv_cmd_destroy_flow_action);
PRIVATE_SINCE_34(pier__dropin_fails, ibv_cmd_destroy_qp);
PRIVATE_SINCE_34(pier__dropin_fails, ibv_cmd_destroy_rwq_ind_table);
PRIVATE_SINCE_34(pier__dropin_fails, ibv_cmd_destroy_srq);
PRIVATE_SINCE_34(pier__dropin_fails, ibv_cmd_destroy_wq);
PRIVATE_SINCE_34(pier__dropin_fails, ibv_cmd_detach_mcast);
PRIVATE_SINCE_34(pier__dropin_fails, ibv_cmd_free_dm);
PRIVATE_SINCE_59(pier__dropin_fails, ibv_cmd_free_dmah);
PRIVATE_SINCE_34(pier__dropin_fails, ibv_cmd_get_context);
PRIVATE_SINCE_34(pier__dropin_fails, ibv_cmd_modify_cq);
PRIVATE_SINCE_34(pier__dropin_fails, ibv_cmd_modify_flow_action_esp);
PRIVATE_SINCE_34(pier__dropin_fails, ibv_cmd_modify_qp);
PRIVATE_SINCE_34(pier__dropin_fails, ibv_cmd_modify_qp_ex);
PRIVATE_SINCE_34(pier__dropin_fails, ibv_cmd_modify_srq);
PRIVATE_SINCE_34(pier__dropin_fails, ibv_cmd_modify_wq);
PRIVATE_SINCE_34(pier__dropin_fails, ibv_cmd_open_qp);
PRIVATE_SINCE_34(pier__dropin_fails, ibv_cmd_open_xrcd);
PRIVATE_SINCE_34(pier__dropin_fails, ibv_cmd_post_recv);
PRIVATE_SINCE_34(pier__dropin_fails, ibv_cmd_post_send);
PRIVATE_SINCE_34(pier__dropin_fails, ibv_cmd_post_srq_recv);
PRIVATE_SINCE_34(pier__dropin_fails, ibv_cmd_query_context);
PRIVATE_SINCE_34(pier__dropin_fails, ibv_cmd_query_device_any);
PRIVATE_SINCE_34(pier__dropin_fails, ibv_cmd_query_mr);
PRIVATE_SINCE_34(pier__dropin_fails, ibv_cmd_query_port);
PRIVATE_SINCE_59(pier__dropin_fails, ibv_cmd_query_port_speed);
PRIVATE_SINCE_34(pier__dropin_fails, ibv_cmd_query_qp);
PRIVATE_SINCE_34(pier__dropin_fails, ibv_cmd_query_srq);
PRIVATE_SINCE_34(pier__dropin_fails, ibv_cmd_read_counters);
PRIVATE_SINCE_34(pier__dropin_fails, ibv_cmd_reg_dm_mr);
PRIVATE_SINCE_34(pier__dropin_fails, ibv_cmd_reg_dmabuf_mr);
PRIVATE_SINCE_34(pier__dropin_fails, ibv_cmd_reg_mr);
PRIVATE_SINCE_59(pier__dropin_fails, ibv_cmd_reg_mr_ex);
PRIVATE_SINCE_34(pier__dropin_fails, ibv_cmd_req_notify_cq);
PRIVATE_SINCE_34(pier__dropin_fails, ibv_cmd_rereg_mr);
PRIVATE_SINCE_34(pier__dropin_fails, ibv_cmd_resize_cq);
PRIVATE_SINCE_34(pier__dropin_fails, verbs_init_cq);

PRIVATE_SINCE_34(pier__dropin_negative, __ioctl_final_num_attrs);
PRIVATE_SINCE_59(pier__dropin_negative, ibv_cmd_export_dmabuf_fd);
PRIVATE_SINCE_34(pier__dropin_negative, ibv_cmd_poll_cq);
PRIVATE_SINCE_34(pier__dropin_negative, ibv_read_ibdev_sysfs_file);

PRIVATE_SINCE_34(pier__dropin_none, _verbs_init_and_alloc_context);
PRIVATE_SINCE_64(pier__dropin_none, ibv_dmabuf_heap_alloc);
PRIVATE_SINCE_64(pier__dropin_none, ibv_dmabuf_heap_cc_shared_init);
PRIVATE_SINCE_34(pier__dropin_none, verbs_open_device);

PRIVATE_SINCE_34(pier__dropin_ignores, __verbs_log);
PRIVATE_SINCE_64(pier__dropin_ignores, ibv_dmabuf_heap_destroy);
PRIVATE_SINCE_64(pier__dropin_ignores, ibv_dmabuf_heap_free);
PRIVATE_SINCE_34(pier__dropin_ignores, verbs_set_ops);
PRIVATE_SINCE_34(pier__dropin_ignores, verbs_uninit_context);
__asm__(".symver pier__dropin_ignores, "
	"verbs_register_driver_34@@IBVERBS_PRIVATE_34");
__asm__(".symver pier__dropin_ignores, "
	"verbs_register_driver_57@@IBVERBS_PRIVATE_57");
__asm__(".symver pier__dropin_ignores, "
	"verbs_register_driver_59@@IBVERBS_PRIVATE_59");
__asm__(".symver pier__dropin_ignores, "
	"verbs_register_driver_64@@IBVERBS_PRIVATE_64");

PRIVATE_SINCE_34(verbs_allow_disassociate_destroy,
		 verbs_allow_disassociate_destroy);

__asm__(".symver pier__dropin_fails, ibv_attach_mcast@IBVERBS_1.0");
__asm__(".symver pier__dropin_fails, ibv_close_device@IBVERBS_1.0");
__asm__(".symver pier__dropin_fails, ibv_dealloc_pd@IBVERBS_1.0");
__asm__(".symver pier__dropin_fails, ibv_dereg_mr@IBVERBS_1.0");
__asm__(".symver pier__dropin_fails, ibv_destroy_ah@IBVERBS_1.0");
__asm__(".symver pier__dropin_fails, ibv_destroy_cq@IBVERBS_1.0");
__asm__(".symver pier__dropin_fails, ibv_destroy_qp@IBVERBS_1.0");
__asm__(".symver pier__dropin_fails, ibv_destroy_srq@IBVERBS_1.0");
__asm__(".symver pier__dropin_fails, ibv_detach_mcast@IBVERBS_1.0");
__asm__(".symver pier__dropin_fails, ibv_modify_qp@IBVERBS_1.0");
__asm__(".symver pier__dropin_fails, ibv_modify_srq@IBVERBS_1.0");
__asm__(".symver pier__dropin_fails, ibv_query_device@IBVERBS_1.0");
__asm__(".symver pier__dropin_fails, ibv_query_port@IBVERBS_1.0");
__asm__(".symver pier__dropin_fails, ibv_query_qp@IBVERBS_1.0");
__asm__(".symver pier__dropin_fails, ibv_query_srq@IBVERBS_1.0");
__asm__(".symver pier__dropin_fails, ibv_resize_cq@IBVERBS_1.0");

__asm__(".symver pier__dropin_no_guid, ibv_get_device_guid@IBVERBS_1.0");

__asm__(".symver pier__dropin_negative, ibv_get_async_event@IBVERBS_1.0");
__asm__(".symver pier__dropin_negative, ibv_get_cq_event@IBVERBS_1.0");
__asm__(".symver pier__dropin_negative, ibv_query_gid@IBVERBS_1.0");
__asm__(".symver pier__dropin_negative, ibv_query_pkey@IBVERBS_1.0");

__asm__(".symver pier__dropin_none, ibv_alloc_pd@IBVERBS_1.0");
__asm__(".symver pier__dropin_none, ibv_create_ah@IBVERBS_1.0");
__asm__(".symver pier__dropin_none, ibv_create_cq@IBVERBS_1.0");
__asm__(".symver pier__dropin_none, ibv_create_qp@IBVERBS_1.0");
__asm__(".symver pier__dropin_none, ibv_create_srq@IBVERBS_1.0");
__asm__(".symver pier__dropin_none, ibv_get_device_list@IBVERBS_1.0");
__asm__(".symver pier__dropin_none, ibv_get_device_name@IBVERBS_1.0");
__asm__(".symver pier__dropin_none, ibv_open_device@IBVERBS_1.0");
__asm__(".symver pier__dropin_none, ibv_reg_mr@IBVERBS_1.0");

__asm__(".symver pier__dropin_ignores, ibv_ack_async_event@IBVERBS_1.0");
__asm__(".symver pier__dropin_ignores, ibv_ack_cq_events@IBVERBS_1.0");
__asm__(".symver pier__dropin_ignores, ibv_free_device_list@IBVERBS_1.0");
__asm__(".symver pier__dropin_ignores, ibv_register_driver@IBVERBS_1.1");
