#!/bin/sh
# bench/inlined.sh [UNITS]: what inlined functions cost a report: time and memory of `fathom report` with and without them, of a C++
# program of so many compilation units with much debug information, all of which have samples. (42: just below the default bound.)
# $FATHOM is the program; compiling a unit takes some seconds.
set -eu
units=${1:-42}
FATHOM=${FATHOM:-$PWD/build/fathom}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat >unit.cc <<'END'
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <future>
#include <iostream>
#include <map>
#include <memory>
#include <random>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <unordered_map>
#include <variant>
#include <vector>
#define JOIN(a, b) a##b
#define NAME(a, b) JOIN(a, b)
namespace NAME(unit, N)
{
struct item { int key; std::string text; };
std::map<int, item> tree;
std::unordered_map<std::string, std::vector<item>> table;
long run(long n)
{
    std::mt19937 random(n);
    std::vector<item> items;
    for (long i = 0; i < n; i++) {
        item x{(int)random(), std::to_string(random())};
        items.push_back(x);
        tree[x.key] = x;
        table[x.text].push_back(x);
    }
    std::sort(items.begin(), items.end(), [](auto &a, auto &b) { return a.key < b.key; });
    std::regex expression("1+[a-z]*(2|3)");
    long found = 0;
    for (auto &x : items)
        found += std::regex_search(x.text, expression);
    std::ostringstream out;
    for (auto &x : tree)
        out << x.first;
    tree.clear();
    table.clear();
    return found + out.str().size();
}
}
extern "C" long NAME(run, N)() { return NAME(unit, N)::run(3000); }
END
{
    seq -f 'extern "C" long run%g();' "$units"
    echo 'int main() { long sum = 0;'
    seq -f 'sum += run%g();' "$units"
    echo 'return sum == 7; }'
} >main.cc
seq "$units" | xargs -P "$(nproc)" -I{} ${CXX:-g++} -std=c++17 -O2 -g -DN={} -c unit.cc -o unit{}.o
${CXX:-g++} -g main.cc unit*.o -o units -pthread
"$FATHOM" record -q -F 999 -o units.data -- ./units
"$FATHOM" report -i units.data --inline-limit 1 | grep -E '^(samples|inlined):'
measure()
{
    for _ in 1 2 3; do
        /usr/bin/time -f "$1: %U + %S s of CPU time, %e s, %M KB of the largest process" "$FATHOM" report -q -i units.data $2 --format folded >out
    done
}
measure "--no-inline" --no-inline
measure "default" ""
