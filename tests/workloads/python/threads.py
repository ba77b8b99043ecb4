"""Threads that compute in C, most without the GIL, and some in Python; each has a path of its own.

path tag deflate (<module>|Thread._bootstrap;Thread._bootstrap_inner;Thread.run;one;squeeze)
path tag inflate Thread._bootstrap;Thread._bootstrap_inner;Thread.run;two;two.<locals>.inner;widen
path tag crc32|crc32_z Thread._bootstrap;Thread._bootstrap_inner;Thread.run;three;sum_up
path tag adler32|adler32_z Thread._bootstrap;Thread._bootstrap_inner;Thread.run;four;four.<locals>.<lambda>
path tag BZ2_bzCompress (Thread._bootstrap;Thread._bootstrap_inner;Thread.run;five|<module>);compress
path tag BZ2_bzDecompress Thread._bootstrap;Thread._bootstrap_inner;Thread.run;six;decompress
path tag EVP_DigestUpdate Thread._bootstrap;Thread._bootstrap_inner;Thread.run;seven;seven.<locals>.<listcomp>;digest
path tag EVP_DigestFinal_ex Thread._bootstrap;Thread._bootstrap_inner;Thread.run;seven;seven.<locals>.<listcomp>;digest
path tag PKCS5_PBKDF2_HMAC Thread._bootstrap;Thread._bootstrap_inner;Thread.run;eight;derive
path - Thread._bootstrap;Thread._bootstrap_inner;Thread.run;nine;spin
path - Thread._bootstrap;Thread._bootstrap_inner;Thread.run;ten;spin
path - Thread._bootstrap;Thread._bootstrap_inner;Thread.run;five;compress;BZ2Compressor.*
path - Thread._bootstrap;.*
path - <module>;main;.*
path - <module>
path - <module>;_shutdown.*
path - _shutdown
"""
import bz2
import hashlib
import random
import sys
import threading
import time
import zlib

from rounds import spin

data = random.Random(3).randbytes(30000) * 8
packed, packed_bz2 = zlib.compress(data), bz2.compress(data)


def squeeze():
    zlib.compress(data)


def one(go):
    while go():
        squeeze()


def widen():
    zlib.decompress(packed)


def two(go):
    def inner():
        widen()
    while go():
        inner()


def sum_up():
    zlib.crc32(data)


def three(go):
    while go():
        sum_up()


def four(go):
    add = lambda: zlib.adler32(data)
    while go():
        add()


def compress():
    bz2.BZ2Compressor().compress(data)


def five(go):
    while go():
        compress()


def decompress():
    bz2.BZ2Decompressor().decompress(packed_bz2)


def six(go):
    while go():
        decompress()


def digest():
    hashlib.sha256(data).digest()


def seven(go):
    while go():
        [digest() for _ in range(2)]


def derive():
    hashlib.pbkdf2_hmac("sha256", b"word", b"salt", 2000)


def eight(go):
    while go():
        derive()


def nine(go):
    while go():
        spin(10)


def ten(go):
    while go():
        spin(10)


def main(seconds):
    end = time.process_time() + seconds
    threads = [threading.Thread(target=work, args=(lambda: time.process_time() < end,))
               for work in (one, two, three, four, five, six, seven, eight, nine, ten)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


main(float(sys.argv[1]))
