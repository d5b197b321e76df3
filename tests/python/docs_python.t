#!/usr/bin/python3
"""docs/python.md: the installation works as written, without a network, and every line of
Python runs with the module that was installed."""
import re
import shutil
import subprocess

from python_test import *

os.environ["PATH"] = os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"]
with open(TOP + "/docs/python.md") as file:
    page = file.read()
blocks = re.findall(r"```(\w+)\n(.*?)```", page, re.S)

# A copy of the tree, because pip builds inside it.
subprocess.run("mkdir tree && tar -C '%s' --exclude=./build --exclude=./.git --exclude='*.egg-info' "
               "--exclude=./bindings/python/build -cf - . | tar -C tree -xf -" % TOP, shell=True, check=True)
install = [b for kind, b in blocks if kind == "sh" and "pip install" in b]
same(len(install), 1, "the page says how to install")
for line in install[0].splitlines():
    if line.startswith("sudo apt-get"):
        continue  # ./run has done this; tests/bare.t does it in a bare system
    out = subprocess.run(line, shell=True, cwd="tree", stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    ok(out.returncode == 0, line, out.stdout[-400:])
python = WORK + "/tree/env/bin/python"
env = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH",)}
where = subprocess.run([python, "-c", "import seen; print(seen.__file__)"], env=env, stdout=subprocess.PIPE, text=True)
ok("/tree/env/" in where.stdout, "the module comes from there", where.stdout)

shutil.copy(TOP + "/tests/golden/guava/int-64/filter.bin", "users.guava")
with open("urls.txt", "w") as file:
    file.write("http://example.org/\nhttp://example.com/\n")
for i, (kind, block) in enumerate(blocks):
    if kind == "python":
        with open("block%d.py" % i, "w") as file:
            file.write(block)
        out = subprocess.run([python, "block%d.py" % i], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        ok(out.returncode == 0, "runs: " + block.strip().splitlines()[0], out.stdout[-400:])
        for line in re.finditer(r"^([^\n#]*\S)\s+# (True|False|\[.*?\])", block, re.M):
            code, said = line.groups()
            if "=" not in code.split("(")[0]:  # what a line says it is, it is
                with open("said.py", "w") as file:
                    file.write("\n".join(block[:line.start()].splitlines()) + "\nassert (%s) == %s\n" % (code, said))
                out = subprocess.run([python, "said.py"], env=env, stderr=subprocess.PIPE, text=True)
                ok(out.returncode == 0, "%s is %s" % (code.strip(), said), out.stderr[-300:])
    elif kind == "sh" and block not in install:
        out = subprocess.run(block, shell=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        ok(out.returncode == 0, block.strip(), out.stdout[-300:])
        same(out.stdout, "http://example.org/\n", "the command reads what Python wrote")
same(subprocess.run([python, "block%d.py" % max(i for i, b in enumerate(blocks) if "Pool" in b[1])], env=env,
                    stdout=subprocess.PIPE, text=True).stdout.strip()[:3], "500", "a pool counts half of them")
try:
    import pandas  # noqa: F401
except ImportError:
    print("# pandas is not installed")
else:
    out = subprocess.run([python, TOP + "/examples/python_pandas.py", "20000"], env=env, stdout=subprocess.PIPE, text=True)
    ok(re.match(r"179\d\d|18000 of 20000", out.stdout), "the example with pandas", out.stdout)
done()
