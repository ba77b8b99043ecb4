"""Code that is made, run and freed, mostly at the same addresses, under other names: some by text that is compiled.

path tag crc32|crc32_z <module>;main;sum_crc
path tag adler32|adler32_z <module>;main;sum_adler
path tag deflate <module>;main;squeeze
path tag inflate <module>;main;widened
path tag BZ2_bzDecompress <module>;main;by_text;<module>;red_0;decompress
path tag BZ2_bzCompress <module>(;main;by_text;<module>;sky_1)?;compress
path - <module>;main
path - <module>;main;(sum_crc|sum_adler|squeeze|widened|by_text.*)
path - <module>;main;Random.choice.*
"""
import bz2
import random
import sys
import types
import zlib

TEXT = """def %s(function, data):
    function(data)
%s(function, data)
"""
data = random.Random(3).randbytes(1000) * 100
packed, packed_bz2 = zlib.compress(data), bz2.compress(data)
base = compile("def f(function, data):\n    function(data)\n", "made", "exec").co_consts[0]
kinds = [("sum_", "crc", zlib.crc32, data), ("sum_", "adler", zlib.adler32, data), ("squ", "eeze", zlib.compress, data),
         ("wid", "ened", zlib.decompress, packed)]


def by_text(name, function, argument):
    exec(TEXT % (name, name), {"function": function, "data": argument})


def main(rounds):
    for n in range(rounds):
        for repeated in range(20):
            first, last, function, argument = random.choice(kinds)
            code = base.replace(co_name=first + last, co_qualname=first + last)
            made = types.FunctionType(code, {})
            del code
            for _ in range(20 if function in (zlib.crc32, zlib.adler32) else 1):
                made(function, argument)
            del made
        by_text("red_0", bz2.decompress, packed_bz2)
        by_text("sky_1", bz2.compress, data[:20000])


main(int(sys.argv[1]))
