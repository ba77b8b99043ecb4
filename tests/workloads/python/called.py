"""C below Python, and Python that C calls.

path 12 <module>;main;by_key;key;spin
path 16 <module>;main;replaced;sub;upper;spin
path 12 <module>;main;encoded;dumps;JSONEncoder.encode;JSONEncoder.iterencode;default;spin
path 12 <module>;main;reduced;reduced.<locals>.<lambda>;spin
path 12 <module>;main;mapped;<lambda>;spin
path 12 <module>;main;compared;Item.__lt__;spin
path 12 <module>;main;hashed;Item.__hash__;spin
path 12 <module>;main;<lambda>;within;spin
path tag deflate <module>;main;squeezed
path tag inflate <module>;main;widened
path tag SHA1_Update|EVP_DigestUpdate <module>;main;digested
path tag PyObject_Repr <module>;main;shown
path - <module>;main;replaced;sub;_compile.*
path - <module>;main;encoded;dumps;JSONEncoder.__init__
path - <module>;main;Random.shuffle.*
"""
import functools
import hashlib
import json
import random
import re
import sys
import zlib

from rounds import spin

data = random.Random(3).randbytes(2000) * 4
packed = zlib.compress(data)
numbers = list(range(3000))


def key(n):
    spin(1)
    return -n


def by_key():
    sorted([3, 1, 2], key=key)


def upper(match):
    spin(2)
    return match.group().upper()


def replaced():
    re.sub("[ab]", upper, "xaxb")


def default(thing):
    spin(3)
    return 1


def encoded():
    json.dumps([object()], default=default)


def reduced():
    functools.reduce(lambda a, b: spin(1), [1, 2, 3, 4])


double = lambda n: spin(1)


def mapped():
    list(map(double, [1, 2, 3]))


class Item:
    def __init__(self, n):
        self.n = n

    def __lt__(self, other):
        spin(3)
        return self.n < other.n

    def __hash__(self):
        spin(3)
        return self.n


items = [Item(1), Item(2)]


def compared():
    min(items)


def hashed():
    {items[0]: 1}


def within():
    spin(3)


inner = lambda: within()


def squeezed():
    zlib.compress(data)


def widened():
    zlib.decompress(packed)


def digested():
    hashlib.sha1(data).digest()


def shown():
    repr(numbers)


def main(rounds):
    calls = [by_key, replaced, encoded, reduced, mapped, compared, hashed, inner, squeezed, widened, digested, shown]
    for _ in range(rounds):
        random.shuffle(calls)
        for call in calls:
            call()


main(int(sys.argv[1]))
