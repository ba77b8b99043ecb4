"""pairs.py ROUNDS COMMAND BASE VARIANT...: user CPU time of `COMMAND VARIANT` over that of `COMMAND BASE`: in each round all once, in another order. Prints each variant's median
ratio and the 95% interval of the median (bootstrap)."""
import random
import resource
import statistics
import subprocess
import sys

rounds, command, base, variants = int(sys.argv[1]), sys.argv[2].split(), sys.argv[3], sys.argv[4:]


def seconds(variant):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(command + [variant], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


ratios = {v: [] for v in variants}
for _ in range(rounds):
    took = {v: seconds(v) for v in random.sample([base] + variants, len(variants) + 1)}
    for v in variants:
        ratios[v].append(took[v] / took[base])
for v, all_of in ratios.items():
    medians = sorted(statistics.median(random.choices(all_of, k=len(all_of))) for _ in range(2000))
    print(f"{v:24} {statistics.median(all_of):.3f} ({medians[50]:.3f} to {medians[1949]:.3f})")
