"""Parses, unparses and compiles N modules of Python's own library: recursion, and millions of contexts in the interpreter.

"python3 trees.py N"; the output depends on the version of Python alone.
"""
import ast
import glob
import os
import sys

size = 0
for name in sorted(glob.glob(os.path.dirname(os.__file__) + "/*.py"))[:int(sys.argv[1])]:
    with open(name, "rb") as file:
        tree = ast.parse(file.read())
    size += sum(1 for node in ast.walk(tree)) + len(ast.unparse(tree))
    compile(tree, name, "exec")
print(size)
