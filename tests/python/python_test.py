"""What the tests of the Python module share: the built module, TAP, a folder to work in."""
import atexit
import os
import shutil
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.join(TOP, os.environ.get("BUILD", "build"))
sys.path[:0] = [os.path.join(TOP, "tests"), os.path.join(BUILD, "python")]

from tap import done, ok, raises, same, skip_all  # noqa: E402

if not os.path.exists(os.path.join(BUILD, "python", "seen", "_seen.abi3.so")):
    skip_all("the Python module was not built: package python3-dev is not installed")

import seen  # noqa: E402

os.environ["PATH"] = BUILD + os.pathsep + os.environ["PATH"]
WORK = tempfile.mkdtemp(prefix="seen-python-")
atexit.register(shutil.rmtree, WORK, ignore_errors=True)
os.chdir(WORK)
