/* SPDX-License-Identifier: BSD-2-Clause */
/* Queue pairs of ids on real devices. */
#include "dropin/cma/cma_real.h"
#include "dropin/cma/cma_real_calls.h"

#define CALLS pier__cma_real_calls

static struct pier__list ids = { &ids, &ids };	/* with a real one */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void pier__cma_real_hold(void)
{
	pthread_mutex_lock(&lock);
}

void pier__cma_real_release(void)
{
	pthread_mutex_unlock(&lock);
}

void pier__cma_real_add(struct cma_id *id)
{
	pthread_mutex_lock(&lock);
	pier__list_add(&ids, &id->reals);
	pthread_mutex_unlock(&lock);
}

void pier__cma_real_remove(struct cma_id *id)
{
	pthread_mutex_lock(&lock);
	pier__list_del(&id->reals);
	pthread_mutex_unlock(&lock);
}

/*
 * A program that ends the QP of an id by ibv_destroy_qp(3) clears it in the id.
 * The host's library looks into its own id, also while it takes events.
 */
void pier__cma_real_qp_ends(struct ibv_qp *qp)
{
	struct pier__list *pos, *tmp;
	struct cma_id *id;

	pthread_mutex_lock(&lock);
	PIER__LIST_EACH(pos, tmp, &ids) {
		id = pier__container_of(pos, struct cma_id, reals);
		if (id->real->qp == qp)
			id->real->qp = NULL;
	}
	pthread_mutex_unlock(&lock);
}

int pier__cma_real_create_qp(struct cma_id *id,
			     struct ibv_qp_init_attr_ex *attr)
{
	pier__cma_real_before(id);
	return pier__cma_real_after(id, CALLS.rdma_create_qp_ex(id->real,
								attr));
}

/* Without one the host's library would use a null pointer. */
void pier__cma_real_destroy_qp(struct cma_id *id)
{
	if (!id->id.qp)
		return;
	pier__cma_real_before(id);
	CALLS.rdma_destroy_qp(id->real);
	pier__cma_real_after(id, 0);
}
