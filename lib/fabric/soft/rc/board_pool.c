/* SPDX-License-Identifier: BSD-2-Clause */
/* The boards of an endpoint that no QP uses. */
#include <errno.h>
#include <stdlib.h>

#include "fabric/soft/rc/qp.h"

/*
 * An endpoint has so many from the beginning and keeps no more: a loss
 * allocates memory only if more QPs lack packets at once.
 */
#define SPARE_BOARDS 2

void pier__soft_board_put(struct soft_ep *ep, struct soft_board *board)
{
	if (ep->spare_boards == SPARE_BOARDS) {
		free(board);
		return;
	}
	board->next = ep->boards;
	ep->boards = board;
	ep->spare_boards++;
}

struct soft_board *pier__soft_board_take(struct soft_ep *ep)
{
	struct soft_board *board = ep->boards;

	if (!board)
		return malloc(sizeof(*board));
	ep->boards = board->next;
	ep->spare_boards--;
	return board;
}

int pier__soft_board_reserve(struct soft_ep *ep)
{
	struct soft_board *board;

	while (ep->spare_boards < SPARE_BOARDS) {
		board = malloc(sizeof(*board));
		if (!board)
			return -ENOMEM;
		pier__soft_board_put(ep, board);
	}
	return 0;
}

void pier__soft_board_free_all(struct soft_ep *ep)
{
	while (ep->boards)
		free(pier__soft_board_take(ep));
}
