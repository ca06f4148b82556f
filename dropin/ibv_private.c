/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names that the libraries of vendors are bound to, which programs load with
 * them, and the first version of calls, from before 2007: they fail, each group
 * in the way that its callers check.
 */
#include <errno.h>
#include <stdbool.h>

#include "dropin/dropin.h"

int pier__dropin_fails(void);
int pier__dropin_negative(void);
void *pier__dropin_none(void);
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

void pier__dropin_ignores(void)
{
}

__asm__(".symver pier__dropin_fails, execute_ioctl@@IBVERBS_PRIVATE_34");
__asm__(".symver pier__dropin_fails, ibv_attach_mcast@IBVERBS_1.0");
__asm__(".symver pier__dropin_fails, ibv_close_device@IBVERBS_1.0");
__asm__(".symver pier__dropin_fails, ibv_cmd_advise_mr@@IBVERBS_PRIVATE_34");
__asm__(".symver pier__dropin_fails, ibv_cmd_alloc_dm@@IBVERBS_PRIVATE_34");
__asm__(".symver pier__dropin_fails, ibv_cmd_alloc_mw@@IBVERBS_PRIVATE_34");
__asm__(".symver pier__dropin_fails, ibv_cmd_alloc_pd@@IBVERBS_PRIVATE_34");
__asm__(".symver pier__dropin_fails, ibv_cmd_attach_mcast@@IBVERBS_PRIVATE_34");
__asm__(".symver pier__dropin_fails, ibv_cmd_close_xrcd@@IBVERBS_PRIVATE_34");
__asm__(".symver pier__dropin_fails, ibv_cmd_create_ah@@IBVERBS_PRIVATE_34");
__asm__(".symver pier__dropin_fails, "
	"ibv_cmd_create_counters@@IBVERBS_PRIVATE_34");
__asm__(".symver pier__dropin_fails, ibv_cmd_create_cq@@IBVERBS_PRIVATE_34");
__asm__(".symver pier__dropin_fails, ibv_cmd_create_cq_ex@@IBVERBS_PRIVATE_34");
__asm__(".symver pier__dropin_fails, ibv_cmd_create_flow@@IBVERBS_PRIVATE_34");
__asm__(".symver pier__dropin_fails, "
	"ibv_cmd_create_flow_action_esp@@IBVERBS_PRIVATE_34");
__asm__(".symver pier__dropin_fails, ibv_cmd_create_qp@@IBVERBS_PRIVATE_34");
__asm__(".symver pier__dropin_fails, ibv_cmd_create_qp_ex@@IBVERBS_PRIVATE_34");
__asm__(".symver pier__dropin_fails, "
	"ibv_cmd_create_qp_ex2@@IBVERBS_PRIVATE_34");
__asm__(".symver pier__dropin_fails, "
	"ibv_cmd_create_rwq_ind_table@@IBVERBS_PRIVATE_34");
__asm__(".symver pier__dropin_fails, ibv_cmd_create_srq@@IBVERBS_PRIVATE_34");
__asm__(".symver pier__dropin_fails, "
	"ibv_cmd_create_srq_ex@@IBVERBS_PRIVATE_34");
__asm__(".symver pier__dropin_fails, ibv_cmd_create_wq@@IBVERBS_PRIVATE_34");
__asm__(".symver pier__dropin_fails, ibv_cmd_dealloc_mw@@IBVERBS_PRIVATE_34");
__asm__(".symver pier__dropin_fails, ibv_cmd_dealloc_pd@@IBVERBS_PRIVATE_34");
__asm__(".symver pier__dropin_fails, ibv_cmd_dereg_mr@@IBVERBS_PRIVATE_34");
__asm__(".symver pier__dropin_fails, ibv_cmd_destroy_ah@@IBVERBS_PRIVATE_34");
__asm__(".symver pier__dropin_fails, "
	"ibv_cmd_destroy_counters@@IBVERBS_PRIVATE_34");
__asm__(".symver pier__dropin_fails, ibv_cmd_destroy_cq@@IBVERBS_PRIVATE_34");
__asm__(".symver pier__dropin_fails, ibv_cmd_destroy_flow@@IBVERBS_PRIVATE_34");
__asm__(".symver pier__dropin_fails, "
	"ibv_cmd_destroy_flow_action@@IBVERBS_PRIVATE_34");
__asm__(".symver pier__dropin_fails, ibv_cmd_destroy_qp@@IBVERBS_PRIVATE_34");
__asm__(".symver pier__dropin_fails, "
	"ibv_cmd_destroy_rwq_ind_table@@IBVERBS_PRIVATE_34");
__asm__(".symver pier__dropin_fails, ibv_cmd_destroy_srq@@IBVERBS_PRIVATE_34");
__asm__(".symver pier__dropin_fails, ibv_cmd_destroy_wq@@IBVERBS_PRIVATE_34");
__asm__(".symver pier__dropin_fails, ibv_cmd_detach_mcast@@IBVERBS_PRIVATE_34");
__asm__(".symver pier__dropin_fails, ibv_cmd_free_dm@@IBVERBS_PRIVATE_34");
__asm__(".symver pier__dropin_fails, ibv_cmd_get_context@@IBVERBS_PRIVATE_34");
__asm__(".symver pier__dropin_fails, ibv_cmd_modify_cq@@IBVERBS_PRIVATE_34");
__asm__(".symver pier__dropin_fails, "
	"ibv_cmd_modify_flow_action_esp@@IBVERBS_PRIVATE_34");
__asm__(".symver pier__dropin_fails, ibv_cmd_modify_qp@@IBVERBS_PRIVATE_34");
__asm__(".symver pier__dropin_fails, ibv_cmd_modify_qp_ex@@IBVERBS_PRIVATE_34");
__asm__(".symver pier__dropin_fails, ibv_cmd_modify_srq@@IBVERBS_PRIVATE_34");
__asm__(".symver pier__dropin_fails, ibv_cmd_modify_wq@@IBVERBS_PRIVATE_34");
__asm__(".symver pier__dropin_fails, ibv_cmd_open_qp@@IBVERBS_PRIVATE_34");
__asm__(".symver pier__dropin_fails, ibv_cmd_open_xrcd@@IBVERBS_PRIVATE_34");
__asm__(".symver pier__dropin_fails, ibv_cmd_post_recv@@IBVERBS_PRIVATE_34");
__asm__(".symver pier__dropin_fails, ibv_cmd_post_send@@IBVERBS_PRIVATE_34");
__asm__(".symver pier__dropin_fails, "
	"ibv_cmd_post_srq_recv@@IBVERBS_PRIVATE_34");
__asm__(".symver pier__dropin_fails, "
	"ibv_cmd_query_context@@IBVERBS_PRIVATE_34");
__asm__(".symver pier__dropin_fails, "
	"ibv_cmd_query_device_any@@IBVERBS_PRIVATE_34");
__asm__(".symver pier__dropin_fails, ibv_cmd_query_mr@@IBVERBS_PRIVATE_34");
__asm__(".symver pier__dropin_fails, ibv_cmd_query_port@@IBVERBS_PRIVATE_34");
__asm__(".symver pier__dropin_fails, ibv_cmd_query_qp@@IBVERBS_PRIVATE_34");
__asm__(".symver pier__dropin_fails, ibv_cmd_query_srq@@IBVERBS_PRIVATE_34");
__asm__(".symver pier__dropin_fails, "
	"ibv_cmd_read_counters@@IBVERBS_PRIVATE_34");
__asm__(".symver pier__dropin_fails, ibv_cmd_reg_dm_mr@@IBVERBS_PRIVATE_34");
__asm__(".symver pier__dropin_fails, "
	"ibv_cmd_reg_dmabuf_mr@@IBVERBS_PRIVATE_34");
__asm__(".symver pier__dropin_fails, ibv_cmd_reg_mr@@IBVERBS_PRIVATE_34");
__asm__(".symver pier__dropin_fails, "
	"ibv_cmd_req_notify_cq@@IBVERBS_PRIVATE_34");
__asm__(".symver pier__dropin_fails, ibv_cmd_rereg_mr@@IBVERBS_PRIVATE_34");
__asm__(".symver pier__dropin_fails, ibv_cmd_resize_cq@@IBVERBS_PRIVATE_34");
__asm__(".symver pier__dropin_fails, ibv_dealloc_pd@IBVERBS_1.0");
__asm__(".symver pier__dropin_fails, ibv_dereg_mr@IBVERBS_1.0");
__asm__(".symver pier__dropin_fails, ibv_destroy_ah@IBVERBS_1.0");
__asm__(".symver pier__dropin_fails, ibv_destroy_cq@IBVERBS_1.0");
__asm__(".symver pier__dropin_fails, ibv_destroy_qp@IBVERBS_1.0");
__asm__(".symver pier__dropin_fails, ibv_destroy_srq@IBVERBS_1.0");
__asm__(".symver pier__dropin_fails, ibv_detach_mcast@IBVERBS_1.0");
__asm__(".symver pier__dropin_fails, ibv_get_device_guid@IBVERBS_1.0");
__asm__(".symver pier__dropin_fails, ibv_modify_qp@IBVERBS_1.0");
__asm__(".symver pier__dropin_fails, ibv_modify_srq@IBVERBS_1.0");
__asm__(".symver pier__dropin_fails, ibv_query_device@IBVERBS_1.0");
__asm__(".symver pier__dropin_fails, ibv_query_port@IBVERBS_1.0");
__asm__(".symver pier__dropin_fails, ibv_query_qp@IBVERBS_1.0");
__asm__(".symver pier__dropin_fails, ibv_query_srq@IBVERBS_1.0");
__asm__(".symver pier__dropin_fails, ibv_resize_cq@IBVERBS_1.0");
__asm__(".symver pier__dropin_fails, verbs_init_cq@@IBVERBS_PRIVATE_34");

__asm__(".symver pier__dropin_negative, "
	"__ioctl_final_num_attrs@@IBVERBS_PRIVATE_34");
__asm__(".symver pier__dropin_negative, ibv_cmd_poll_cq@@IBVERBS_PRIVATE_34");
__asm__(".symver pier__dropin_negative, ibv_get_async_event@IBVERBS_1.0");
__asm__(".symver pier__dropin_negative, ibv_get_cq_event@IBVERBS_1.0");
__asm__(".symver pier__dropin_negative, ibv_query_gid@IBVERBS_1.0");
__asm__(".symver pier__dropin_negative, ibv_query_pkey@IBVERBS_1.0");
__asm__(".symver pier__dropin_negative, "
	"ibv_read_ibdev_sysfs_file@@IBVERBS_PRIVATE_34");

__asm__(".symver pier__dropin_none, "
	"_verbs_init_and_alloc_context@@IBVERBS_PRIVATE_34");
__asm__(".symver pier__dropin_none, ibv_alloc_pd@IBVERBS_1.0");
__asm__(".symver pier__dropin_none, ibv_create_ah@IBVERBS_1.0");
__asm__(".symver pier__dropin_none, ibv_create_cq@IBVERBS_1.0");
__asm__(".symver pier__dropin_none, ibv_create_qp@IBVERBS_1.0");
__asm__(".symver pier__dropin_none, ibv_create_srq@IBVERBS_1.0");
__asm__(".symver pier__dropin_none, ibv_get_device_list@IBVERBS_1.0");
__asm__(".symver pier__dropin_none, ibv_get_device_name@IBVERBS_1.0");
__asm__(".symver pier__dropin_none, ibv_open_device@IBVERBS_1.0");
__asm__(".symver pier__dropin_none, ibv_reg_mr@IBVERBS_1.0");
__asm__(".symver pier__dropin_none, verbs_open_device@@IBVERBS_PRIVATE_34");

__asm__(".symver pier__dropin_ignores, __verbs_log@@IBVERBS_PRIVATE_34");
__asm__(".symver pier__dropin_ignores, ibv_ack_async_event@IBVERBS_1.0");
__asm__(".symver pier__dropin_ignores, ibv_ack_cq_events@IBVERBS_1.0");
__asm__(".symver pier__dropin_ignores, "
	"ibv_copy_ah_attr_from_kern@@IBVERBS_1.1");
__asm__(".symver pier__dropin_ignores, "
	"ibv_copy_path_rec_from_kern@@IBVERBS_1.0");
__asm__(".symver pier__dropin_ignores, ibv_copy_path_rec_to_kern@@IBVERBS_1.0");
__asm__(".symver pier__dropin_ignores, "
	"ibv_copy_qp_attr_from_kern@@IBVERBS_1.0");
__asm__(".symver pier__dropin_ignores, ibv_free_device_list@IBVERBS_1.0");
__asm__(".symver pier__dropin_ignores, ibv_register_driver@IBVERBS_1.1");
__asm__(".symver pier__dropin_ignores, "
	"verbs_register_driver_34@@IBVERBS_PRIVATE_34");
__asm__(".symver pier__dropin_ignores, verbs_set_ops@@IBVERBS_PRIVATE_34");
__asm__(".symver pier__dropin_ignores, "
	"verbs_uninit_context@@IBVERBS_PRIVATE_34");
