# SPDX-License-Identifier: BSD-2-Clause
"""SHA contexts: digests as tasks."""
from __future__ import annotations

import enum
from typing import TYPE_CHECKING

from ._context import Context
from ._errors import check, configuration, create
from ._memory import Parts, pair
from ._operation import Task
from ._pier import lib

if TYPE_CHECKING:
    from ._engine import Engine


class ShaAlgorithm(enum.IntEnum):
    """How a digest is computed."""

    SHA_1 = lib.PIER_SHA_1
    SHA_256 = lib.PIER_SHA_256
    SHA_512 = lib.PIER_SHA_512

    @property
    def digest_len(self) -> int:
        """The bytes of a digest."""
        return lib.pier_sha_digest_len(self)


class Sha(Context):
    """A running SHA context, pier_sha(3), whose thread computes digests.

    config has members of struct pier_sha_config.
    """

    def __init__(self, engine: Engine, **config: int) -> None:
        cfg = configuration("sha", config)
        sha = create(lib.pier_sha_create)
        super().__init__(engine, sha, lib.pier_sha_ctx(sha),
                         lib.pier_sha_destroy)
        check(lib.pier_sha_configure(sha, cfg))
        self.start()

    def hash(self, src: Parts, dst: Parts,
             algorithm: ShaAlgorithm = ShaAlgorithm.SHA_256) -> Task[None]:
        """Write the digest of the bytes of src to the first bytes of dst.

        Fails with EMSGSIZE, more than dst has; EACCES; EOPNOTSUPP.
        """
        sha = self.handle
        bufs = pair(self.engine, src, dst)
        return Task.make(self.engine, lib.pier_sha_task_hash,
                         (sha, algorithm, *bufs), (self, src, dst),
                         src=bufs[0], dst=bufs[1])
