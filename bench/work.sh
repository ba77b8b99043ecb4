#!/bin/sh
# Prints what a report costs, what it leaves out, and how often it is right, on programs whose contexts are many.
#
# work.sh FATHOM SOURCE DIRECTORY [SUBJECT...]: a SUBJECT that DIRECTORY does not have is recorded there, with each sample's
# stack, as an archive with its programs and libraries, so that an upgrade of them spoils nothing: 5 to 60 MB each. Subjects:
# python3, cc1, gnugo, xalan, povray, clang, java, node, random; what is not installed is left out. For each: right weight,
# weight that is said to be right, share of samples that were cut, millions of steps, seconds of user CPU time, MB.
set -eu
fathom=$(realpath "$1") source=$(realpath "$2") kept=$3
shift 3
[ $# -gt 0 ] || set -- python3 cc1 gnugo xalan povray clang java node random
mkdir -p "$kept"
kept=$(cd "$kept" && pwd)
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
trap 'exit 1' HUP INT TERM
cd "$directory"
PATH=$PATH:/usr/games

# record SUBJECT COMMAND...
record()
{
    subject=$1
    shift
    "$fathom" evaluate -q -e cpu-clock -F 1000 --audit 100 -o "$subject.data" --format json -- "$@" >/dev/null 2>log </dev/null || :
    "$fathom" archive -q --no-debug --no-cache -i "$subject.data" -o "$kept/$subject.tar.zst"
}

# 400 functions that call each other at random through a table.
random()
{
    awk 'BEGIN {
        srand(1)
        print "static volatile unsigned long sink; static unsigned long state = 88172645463325252UL;"
        print "static unsigned any(void) { state ^= state << 13; state ^= state >> 7; state ^= state << 17; return state >> 11; }"
        print "typedef void function(int); extern function *table[400];"
        for (i = 0; i < 400; i++)
            printf "static void f%d(int d) { volatile char p[%d]; p[0] = d; for (int i = 0; i < 60; i++) sink += i; if (d > 0) { table[any() %% 400](d - 1); if (any() %% 4 == 0) table[any() %% 400](d - 2); } sink += p[0]; }\n", i, int(1 + 40 * rand()) * 8
        printf "function *table[400] = {"
        for (i = 0; i < 400; i++)
            printf "f%d,", i
        print "}; int main(void) { for (int i = 0; i < 60000; i++) table[any() % 400](20); }"
    }'
}

unit()
{
    awk 'BEGIN {
        print "int printf(const char *, ...); typedef struct node { struct node *next; int key, value; } node;"
        for (i = 0; i < 400; i++)
            printf "static int g%d(node *n, int d) { int s = %d; for (; n; n = n->next) { switch ((n->key + d) %% 7) { case 0: s += n->value * %d; break; case 1: s ^= n->value << %d; break; case 2: if (d > 0) s += %s(n->next, d - 1); break; default: s -= n->key; } } return s; }\n", i, i, i + 3, i % 13, i ? "g" int(i / 2) : "g0"
        print "int main(int c, char **v) { node n = { 0, c, c }; int s = 0;"
        for (i = 0; i < 400; i++)
            printf "s += g%d(&n, c);", i
        print "return printf(\"%d\", s); }"
    }'
}

catalogue()
{
    awk 'BEGIN { print "<c>"; for (i = 0; i < 25000; i++) printf "<i k=\"%d\"><n>n%d</n><p>%d</p></i>\n", i % 7, i * 7919 % 9973, i * 31 % 1009; print "</c>" }' >items.xml
    cat >items.xsl <<'END'
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"><xsl:key name="k" match="i" use="@k"/>
<xsl:template match="/"><o><xsl:apply-templates select="c/i"><xsl:sort select="p" data-type="number"/></xsl:apply-templates></o></xsl:template>
<xsl:template match="i"><d><xsl:value-of select="concat(substring(n,2),translate(p,'0123','abcd'))"/><xsl:if test="p &lt; 40"><xsl:value-of select="count(key('k',@k)[p &gt; current()/p])"/></xsl:if></d></xsl:template>
</xsl:stylesheet>
END
}

scene()
{
    cat <<'END'
#version 3.7;
global_settings { assumed_gamma 1 }
camera { location <0,3,-7> look_at 0 }
light_source { <10,20,-10> color rgb 1 }
plane { y,-1 pigment { checker color rgb 1 color rgb 0.3 } finish { reflection 0.3 } }
#declare R = seed(7);
#for (I,0,40) sphere { <rand(R)*8-4,rand(R)*3-1,rand(R)*6>, 0.3 pigment { bozo } finish { reflection 0.2 } normal { bumps 0.3 } } #end
blob { threshold 0.6 sphere { <1,0,0>,1,1 } cylinder { <0,0,0>,<0,2,0>,0.5,1 } pigment { rgbt 0.6 } interior { ior 1.4 } }
END
}

# make SUBJECT
make()
{
    case $1 in
    python3) record "$1" /usr/bin/python3 "$source/tests/workloads/stock.py" 100000 ;;
    cc1)
        unit >unit.i
        record "$1" "$(gcc -print-prog-name=cc1)" -quiet -O2 unit.i -o /dev/null
        ;;
    gnugo)
        printf 'boardsize 9\ngenmove black\ngenmove white\ngenmove black\ngenmove white\nquit\n' >game.gtp
        record "$1" gnugo --mode gtp --seed 1 --gtp-input game.gtp
        ;;
    xalan)
        catalogue
        record "$1" xalan -in items.xml -xsl items.xsl -out /dev/null
        ;;
    povray)
        scene >scene.pov
        record "$1" povray +Iscene.pov +O/dev/null +W480 +H360 -D
        ;;
    clang)
        unit >unit.c
        record "$1" clang -g -O2 -w -c unit.c -o unit.o
        ;;
    java)
        echo 'public class W { static int f(int n) { return n < 2 ? n : f(n - 1) + f(n - 2); } public static void main(String[] a) { System.out.println(f(34)); } }' >W.java
        record "$1" java W.java
        ;;
    node) record "$1" node -e 'let t = 0; for (let i = 0; i < 40; i++) t += JSON.stringify([...Array(20000).keys()].map(String)).replace(/(1|2)+3/g, x => x + x).length; console.log(t)' ;;
    random)
        random >random.c
        gcc -O1 -o random random.c
        record "$1" ./random
        ;;
    *) echo "no such subject: $1" >&2 && exit 2 ;;
    esac
}

# mode NAME SUBJECT OPTION...
mode()
{
    name=$1 subject=$2
    shift 2
    sh -c '"$@" >out; times >times' sh "$fathom" evaluate -q --format json -i "$kept/$subject.tar.zst" "$@" 2>log || :
    cpu=$(awk -F '[ms ]+' 'NR == 2 { print $1 * 60 + $2 }' times)
    awk -F '[:,} ]+' -v name="$name" -v subject="$subject" -v cpu="$cpu" '
        /^ "right":/ { right = $6 } /^ "all":/ { all = $6 } /^ "said":/ { said = $3 } /"samples":/ && !samples { samples = $2 }
        match($0, /"cut": [0-9]+/) { cut = substr($0, RSTART + 7, RLENGTH - 7) }
        match($0, /"steps": [0-9]+/) { steps = substr($0, RSTART + 9, RLENGTH - 9) }
        END { printf "%-14s %-8s %6.2f%% %6.2f%% %6.2f%% %5.0f %6.2f s\n", name, subject, all ? 100 * right / all : 0,
            all ? 100 * said / all : 0, samples ? 100 * cut / samples : 0, steps / 1e6, cpu }' out
}

printf '%-14s %-8s %7s %7s %7s %5s %8s\n' mode subject right said cut steps 'CPU time'
for subject; do
    [ -e "$kept/$subject.tar.zst" ] || make "$subject" || { echo "$subject: cannot be recorded" >&2; continue; }
    mode compared "$subject" --verify all
    mode "20 stacks" "$subject" --verify all --dumps 20,0
    mode "not compared" "$subject"
done
