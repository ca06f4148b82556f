# SPDX-License-Identifier: BSD-2-Clause
"""DMA contexts: copies as tasks."""
from __future__ import annotations

from typing import TYPE_CHECKING

from ._context import Context
from ._data import device_of
from ._errors import check, configuration, create
from ._memory import Parts, pair
from ._operation import Task
from ._pier import lib

if TYPE_CHECKING:
    from ._device import Device
    from ._engine import Engine


class Dma(Context):
    """A running DMA context, pier_dma(3).

    config has members of struct pier_dma_config.
    """

    def __init__(self, dev: Device, engine: Engine, **config: int) -> None:
        cfg = configuration("dma", config)
        dma = create(lib.pier_dma_create, device_of(dev))
        super().__init__(engine, dma, lib.pier_dma_ctx(dma),
                         lib.pier_dma_destroy)
        self._dev = dev
        check(lib.pier_dma_configure(dma, cfg))
        self.start()

    def copy(self, src: Parts, dst: Parts) -> Task[None]:
        """Copy the bytes of src to the first bytes of dst.

        Fails with EMSGSIZE, more than dst has; EACCES; EINVAL.
        """
        dma = self.handle
        bufs = pair(self.engine, src, dst)
        return Task.make(self.engine, lib.pier_dma_task_copy, (dma, *bufs),
                         (self, src, dst), src=bufs[0], dst=bufs[1])
