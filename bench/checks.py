"""checks.py BUILD [RUNS [PROGRAM|VARIANT...]]: what the checks of duplicated programs cost (Hirzel and Chilimbi, FDDO-4 2001, figure 6): user CPU time of
Debian's programs, duplicated with each set of checks and without a runtime, so that no burst begins, over that of a copy of the
program. Runs are interleaved, and all files lie in memory (/dev/shm): where a file lies on a disk moves cc1 by 10%. As it matters where
in memory, each run is of a new copy of the file, and in another order. "again" is the program itself once more: what it differs
from 1 is the error. Prints median ratios."""
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile

build, runs = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 9
top = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VARIANTS = {  # entries, loops
    "moved": ("none", "none"), "orig": ("all", "all"), "EL": ("callers", "all"), "EC": ("cycles", "all"), "EN": ("none", "all"),
    "L4": ("all", "4"), "L10": ("all", "10"), "LN": ("all", "none"), "EC+L4": ("cycles", "4"),
}


def output(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout.strip()


def library(name):
    return os.path.realpath([l.split("=> ")[1] for l in output("/sbin/ldconfig", "-p").splitlines()
                             if name + " " in l and "x86-64" in l][0])


LUA = """local t = {} for i = 1, 300000 do t[i] = (i * 7919) % 100003 end table.sort(t)
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local s = {} for i = 1, 60000 do s[#s + 1] = tostring(t[i]):rep(2) end print(fib(34), #table.concat(s))"""
SQL = """create table a(x integer primary key, y text, z int);
with recursive c(i) as (select 1 union all select i + 1 from c where i < 400000) insert into a select i, 'row' || (i * 7919 % 100003), i % 97 from c;
create index ai on a(y); select z, count(*), sum(x) from a group by z order by 2, 1 limit 5;
select count(*) from a b join a c on b.y = c.y where b.z < 3;"""
PERL = """my %h; for my $i (1 .. 3000000) { $h{($i * 7919) % 50021} .= chr(65 + $i % 26); } my $n = 0;
for (sort keys %h) { $n += length $h{$_}; $n++ while $h{$_} =~ /A[^Z]*B/g; } print "$n\\n";"""
POV = """camera { location <0, 2, -5> look_at 0 } light_source { <5, 5, -5> rgb 1 }
#declare i = 0; #while (i < 200) sphere { <sin(i) * 2, cos(i * 1.3), sin(i * .7) * 2>, .25
texture { pigment { bozo } finish { reflection .2 } } } #declare i = i + 1; #end plane { y, -2 pigment { checker rgb 1 rgb .3 } }"""


def subjects(here):
    for name, text in (("w.lua", LUA), ("w.sql", SQL), ("w.pl", PERL), ("w.pov", POV)):
        with open(os.path.join(here, name), "w") as f:
            f.write(text + "\n")
    cc1 = os.path.realpath(output("gcc", "-print-prog-name=cc1"))
    with open(cc1, "rb") as f, open(os.path.join(here, "w.bin"), "wb") as g:
        g.write(f.read(16 << 20))
    with open(os.path.join(here, "w.i"), "w") as f:
        f.write(output("gcc", "-E", "-I" + build, "-I" + top, "-D_GNU_SOURCE", os.path.join(top, "image/cfi/cfi.c")))
    # name, file that is duplicated, whether it is a library, command
    return [
        ("bzip2", library("libbz2.so.1.0"), True, "bzip2 -kc w.bin"),
        ("lua", "/usr/bin/lua5.4", False, "{} w.lua"),
        ("sqlite3", library("libsqlite3.so.0"), True, "sqlite3 -init /dev/null :memory: '.read w.sql'"),
        ("perl", "/usr/bin/perl", False, "{} w.pl"),
        ("cc1", cc1, False, "{0} -O2 -quiet w.i -o /dev/null; {0} -O2 -quiet w.i -o /dev/null; {0} -O2 -quiet w.i -o /dev/null"),
        ("povray", "/usr/bin/povray", False, "{} +Iw.pov +O/dev/null -D +W960 +H720 +WT1"),
    ]


def user_time(command, here, libraries):
    environment = dict(os.environ, LD_LIBRARY_PATH=libraries) if libraries else None
    process = subprocess.Popen(["sh", "-c", command], cwd=here, env=environment, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    return os.wait4(process.pid, 0)[2].ru_utime


def measure(here, name, path, is_library, command):
    commands = {}
    for variant in ["copy", "again"] + chosen:
        folder = os.path.join(here, name, variant)
        os.makedirs(folder)
        if is_library:
            target = os.path.join(folder, {"bzip2": "libbz2.so.1.0", "sqlite3": "libsqlite3.so.0"}[name])
        else:
            target = os.path.join(folder, os.path.basename(path))
        if variant in ("copy", "again"):
            shutil.copy(path, target)
        else:
            output(os.path.join(build, "tests/rewrite/duplicate"), path, target, *VARIANTS[variant])
        os.chmod(target, 0o755)
        commands[variant] = (command.format(target), folder if is_library else None, target)
    times = {variant: [] for variant in commands}
    for _ in range(runs):
        for variant in random.sample(list(commands), len(commands)):
            line, libraries, target = commands[variant]
            shutil.copy(target, target + ".new")
            os.replace(target + ".new", target)
            times[variant].append(user_time(line, here, libraries))
    return {v: statistics.median(t / b for t, b in zip(times[v], times["copy"])) for v in ["again"] + chosen}


names = ["bzip2", "lua", "sqlite3", "perl", "cc1", "povray"]
chosen = [v for v in VARIANTS if v in sys.argv[3:]] or list(VARIANTS)
wanted = [n for n in names if n in sys.argv[3:]] or names
with tempfile.TemporaryDirectory(dir="/dev/shm") as here:
    print("%-8s" % "" + "".join("%8s" % v for v in ["again"] + chosen))
    sums = []
    for subject in subjects(here):
        if subject[0] not in wanted:
            continue
        ratios = measure(here, *subject)
        shutil.rmtree(os.path.join(here, subject[0]))
        sums.append(ratios)
        print("%-8s" % subject[0] + "".join("%8.3f" % ratios[v] for v in ratios), flush=True)
    print("%-8s" % "mean" + "".join("%8.3f" % statistics.geometric_mean(s[v] for s in sums) for v in sums[0]))
