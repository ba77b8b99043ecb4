"""flat_profile.py BINARY <ADDRESSES: a sample profile for clang of the lines of sampled instructions alone (from `fathom script -F address`): the peer of what `fathom report --format
autofdo` reckons. Of a line the most samples of one instruction; what is inlined counts as its own function's."""
import collections
import subprocess
import sys

binary = sys.argv[1]
samples = collections.Counter(line.strip().rpartition("+")[2] for line in sys.stdin)
addresses = list(samples)
told = subprocess.run(["llvm-symbolizer", "--verbose", "--functions=linkage", "--no-demangle", "--no-inlines", "--obj=" + binary],
                      input="\n".join(addresses), capture_output=True, text=True, check=True).stdout.strip().split("\n\n")


def base(discriminator):
    if discriminator & 1:
        return 0
    discriminator >>= 1
    return discriminator >> 1 & 0xFE0 | discriminator & 0x1F if discriminator & 0x20 else discriminator & 0x1F


functions = collections.defaultdict(collections.Counter)
for address, text in zip(addresses, told):
    name, *rest = text.split("\n")
    fields = dict(line.strip().split(": ", 1) for line in rest if ": " in line)
    start, line = int(fields.get("Function start line", 0)), int(fields.get("Line", 0))
    if start and line:
        place = (line - start & 0xFFFF, base(int(fields.get("Discriminator", 0))))
        functions[name][place] = max(functions[name][place], samples[address])
for name, lines in functions.items():
    print(f"{name}:{sum(lines.values())}:0")
    for (offset, discriminator), count in sorted(lines.items()):
        print(f" {offset}{f'.{discriminator}' if discriminator else ''}: {count}")
