/*
 * shapes.cc - frames of many kinds, for tests that resize them: arguments on the stack, structures by value, variadic
 * functions, alloca, arrays of a variable length, large arrays, switches, setjmp, callbacks from the C library, signals,
 * threads and exceptions that pass all of them. Prints what was computed, and how many frames the unwinder counted.
 */
#include <algorithm>
#include <alloca.h>
#include <csetjmp>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <unwind.h>
#include <vector>

#define KEPT __attribute__((noinline))

struct block {
    long words[6];
};

static thread_local unsigned long sum;
static jmp_buf back;

static _Unwind_Reason_Code see_frame(struct _Unwind_Context *context, void *count)
{
    ++*static_cast<unsigned *>(count);
    return _Unwind_GetIP(context) ? _URC_NO_REASON : _URC_END_OF_STACK;
}

KEPT static unsigned frames()
{
    unsigned count = 0;
    _Unwind_Backtrace(see_frame, &count);
    return count;
}

/* Adds to the sum when it goes, on whatever way. */
struct guard {
    long weight;
    explicit guard(long w) : weight(w)
    {
    }
    ~guard()
    {
        sum = sum * 31 + static_cast<unsigned long>(weight);
    }
};

KEPT static long many(long a, long b, long c, long d, long e, long f, long g, long h, struct block i, long j)
{
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + i.words[0] - i.words[5] + 9 * j;
}

KEPT static long variadic(const char *kinds, ...)
{
    va_list list;
    long total = 0;
    va_start(list, kinds);
    for (; *kinds; kinds++)
        total =
            total * 3 + (*kinds == 'd' ? static_cast<long>(va_arg(list, double) * 4) : va_arg(list, long));
    va_end(list);
    return total;
}

KEPT static long dynamic(unsigned n, long depth)
{
    char *text = static_cast<char *>(alloca(n));
    memset(text, 'a' + static_cast<int>(depth), n);
    guard g(text[n / 2]);
    if (depth == 0)
        throw std::out_of_range(std::string(text, 5));
    return text[n - 1] + many(1, 2, 3, 4, 5, 6, 7, dynamic(n + 7, depth - 1), {{1, 2, 3, 4, 5, 6}}, 8);
}

KEPT static long choose(int what, long n)
{
    double local[9] = {};
    guard g(what);
    local[what % 9] = static_cast<double>(n);
    switch (what % 11) {
    case 0:
        return variadic("ldldldldlll", 1L, 0.5, 2L, 1.5, 3L, 2.5, 4L, 3.5, 5L, 6L, n);
    case 1:
        return many(n, 1, 2, 3, 4, 5, 6, 7, {{n, 1, 2, 3, 4, 5}}, 8);
    case 2:
        return static_cast<long>(local[what % 9]) + frames();
    case 3:
        throw n;
    case 4:
        return choose(what + 1, n) + static_cast<long>(local[4]);
    case 5:
        try {
            return dynamic(40, n % 7);
        } catch (const std::out_of_range &e) {
            return static_cast<long>(strlen(e.what())) + static_cast<long>(local[5]);
        }
    case 6:
        longjmp(back, what);
    case 7: {
        std::map<std::string, long> words;
        for (long i = 0; i < 20; i++)
            words[std::to_string(i * n % 13)] += i;
        for (const auto &word : words)
            sum = sum * 7 + static_cast<unsigned long>(word.second);
        return static_cast<long>(words.size());
    }
    case 8:
        raise(SIGUSR1);
        return 1;
    case 9: {
        char text[300];
        int length = snprintf(text, sizeof text, "%ld %s %g %*d", n, "text", local[0], 20, what);
        return length + text[3];
    }
    default:
        return choose(what / 2, n + 1);
    }
}

static int compare(const void *a, const void *b)
{
    long x = *static_cast<const long *>(a), y = *static_cast<const long *>(b);
    sum += frames();
    return (x > y) - (x < y);
}

KEPT static void round_of(int number)
{
    volatile int what = number * 3;
    try {
        guard g(number);
        if (setjmp(back) == 0)
            sum += static_cast<unsigned long>(choose(what, number));
        else
            sum ^= 0x55;
        what = what + 1;
        sum += static_cast<unsigned long>(choose(what, number)) * 3;
    } catch (long n) {
        sum = sum * 5 + static_cast<unsigned long>(n);
        try {
            choose(3, n + 1);
        } catch (...) {
            sum += frames();
        }
    }
}

KEPT static void work(int rounds)
{
    std::vector<long> numbers;
    for (int i = 0; i < rounds; i++) {
        round_of(i);
        numbers.push_back((i * 7919L) % 101);
    }
    qsort(numbers.data(), numbers.size(), sizeof numbers[0], compare);
    std::sort(numbers.begin(), numbers.end(),
              [](long a, long b) { return a % 10 != b % 10 ? a % 10 < b % 10 : a < b; });
    for (long n : numbers)
        sum = sum * 3 + static_cast<unsigned long>(n);
}

static void handle(int number)
{
    sum += frames() + static_cast<unsigned>(number);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 300;
    signal(SIGUSR1, handle);
    work(rounds);
    printf("%lu\n", sum);
    unsigned long of_thread = 0;
    std::thread other([&] {
        work(rounds / 2);
        of_thread = sum;
    });
    other.join();
    printf("%lu %lu\n", sum, of_thread);
    return 0;
}
