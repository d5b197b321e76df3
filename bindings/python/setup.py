"""Builds the C extension of `seen`; everything else is in pyproject.toml.

libseen comes from the source tree around this folder, as its own Makefile builds it:
pip install needs gcc, make and libxxhash-dev, and no network (--no-build-isolation).
"""

import os
import re
import shutil
import subprocess
import sys
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

HERE = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.dirname(os.path.dirname(HERE))


def version():
    with open(os.path.join(TREE, "include", "seen.h")) as header:
        return re.search(r'#define SEEN_VERSION "(.*)"', header.read()).group(1)


class Build(build_ext):
    """Builds the extension with the Makefile of the tree and copies it."""

    def build_extension(self, extension):
        where = os.path.abspath(os.path.join(self.build_temp, "seen"))
        subprocess.check_call(["make", "-s", "-C", TREE, "BUILD=" + where,
                               "PYTHON=" + sys.executable, "python"])
        target = os.path.abspath(self.get_ext_fullpath(extension.name))
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copy(os.path.join(where, "python", "seen", "_seen.abi3.so"), target)


setup(
    version=version(),
    cmdclass={"build_ext": Build},
    ext_modules=[Extension("seen._seen", sources=[], py_limited_api=True)],
    options={"bdist_wheel": {"py_limited_api": "cp39"}},
)
