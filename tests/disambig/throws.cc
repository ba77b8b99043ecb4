/*
 * All the ways of C++ exceptions, with an output that depends on each: caught by type, by base, by "...", thrown
 * again, from destructors' callers, through frames without handlers, and nested. For tests that change the code.
 */
#include <cstdio>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#define KEPT __attribute__((noinline))

static int alive;

struct Guard {
    const char *name;
    KEPT Guard(const char *text) : name(text)
    {
        alive++;
    }
    KEPT ~Guard()
    {
        alive--;
        std::printf("~%s ", name);
    }
};

struct Odd {
    int value;
};

KEPT static void pass(int n)
{
    Guard guard("pass");
    switch (n % 6) {
    case 0:
        throw std::runtime_error("runtime " + std::to_string(n));
    case 1:
        throw std::out_of_range("range");
    case 2:
        throw Odd{n};
    case 3:
        throw n;
    case 4:
        std::vector<int>().at(3);
        break;
    default:
        std::printf("none ");
    }
}

KEPT static void nested(int n)
{
    Guard outer("outer");
    try {
        pass(n);
    } catch (const Odd &odd) {
        Guard handler("handler");
        if (odd.value > 4)
            throw;
        std::printf("odd %d ", odd.value);
    } catch (const std::out_of_range &) {
        throw std::logic_error("translated");
    }
}

KEPT static int guarded(const std::function<void(int)> &f, int n)
{
    try {
        f(n);
        return 0;
    } catch (const std::logic_error &e) {
        std::printf("logic %s ", e.what()[0] == 't' ? "translated" : "other");
        return 1;
    } catch (const std::exception &e) {
        std::printf("%s ", e.what());
        return 2;
    } catch (int i) {
        std::printf("int %d ", i);
        return 3;
    } catch (...) {
        std::printf("... ");
        return 4;
    }
}

int main()
{
    int total = 0;
    for (int n = 0; n < 12; n++) {
        total = total * 5 + guarded(nested, n);
        total = total * 3 + guarded(
                                [](int i) {
                                    Guard lambda("lambda");
                                    nested(i + 1);
                                },
                                n);
        std::printf("alive %d\n", alive);
        total %= 1000003;
    }
    std::printf("%d\n", total);
    return 0;
}
