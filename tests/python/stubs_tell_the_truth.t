#!/usr/bin/python3
"""The type stubs name what the module has, no more and no less; every name has a docstring."""
import ast

from python_test import *

with open(TOP + "/bindings/python/seen/__init__.pyi") as file:
    stubs = ast.parse(file.read())
told = {n.name: n for n in stubs.body if isinstance(n, (ast.ClassDef, ast.FunctionDef))}
same(set(told), set(seen.__all__), "the stubs have the public names")
for name, node in sorted(told.items()):
    thing = getattr(seen, name)
    ok(thing.__doc__, name + " has a docstring")
    if not isinstance(node, ast.ClassDef) or issubclass(thing, BaseException):
        continue
    stub = {n.name for n in node.body if isinstance(n, ast.FunctionDef) and not n.name.startswith("_")}
    stub |= {n.target.id for n in node.body if isinstance(n, ast.AnnAssign)}
    real = {n for n in dir(thing) if not n.startswith("_")}
    same(stub, real, name + ": the stubs have its members")
    for member in sorted(real - {"offsets", "data"}):
        ok(getattr(thing, member).__doc__, "%s.%s has a docstring" % (name, member))
done()
