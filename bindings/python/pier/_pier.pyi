# SPDX-License-Identifier: BSD-2-Clause
"""What cffi makes of the headers: every call, struct and constant of C."""
from typing import Any

ffi: Any
lib: Any
