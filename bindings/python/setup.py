# SPDX-License-Identifier: BSD-2-Clause
"""The extension module; pyproject.toml has the rest."""
from setuptools import setup

setup(cffi_modules=["build_pier.py:for_setuptools"])
