/* Strings in a vector and in a map, sorted and copied: much of the time in the library's allocator, under
 * paths of templates. "containers [ROUNDS]". Its only thread is the main one. */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

enum { COUNT = 40000 };

static std::vector<std::string> make(void)
{
    std::vector<std::string> all;
    for (int i = 0; i < COUNT; i++)
        all.push_back("a string that is long enough for the heap " + std::to_string(i * 7919 % COUNT));
    return all;
}

static std::map<std::string, int> count(const std::vector<std::string> &all)
{
    std::map<std::string, int> counts;
    for (const auto &one : all)
        counts[one]++;
    return counts;
}

int main(int argc, char **argv)
{
    for (int rounds = argc > 1 ? std::atoi(argv[1]) : 1; rounds > 0; rounds--) {
        auto all = make();
        auto counts = count(all);
        std::sort(all.begin(), all.end());
        auto copy = all;
        std::printf("%zu %zu\n", counts.size(), copy.size());
    }
    return 0;
}
