/*
 * A C++ exception through several frames, whose destructors work on its way. Of the time:
 *
 *   40%  main shop::serve() shop::find(int) shop::search(int)                  (before it throws)
 *   30%  main shop::serve() shop::find(int) shop::Basket::~Basket()            (while it unwinds)
 *   30%  main shop::serve() shop::recover(std::exception const&)               (in the handler)
 */
#include <exception>
#include <stdexcept>

#include "program.h"

namespace shop
{

static volatile char sink;

struct Basket {
    KNOWN ~Basket();
};

KNOWN Basket::~Basket()
{
    spin(60);
}

KNOWN static void search(int what)
{
    spin(80);
    if (what >= 0)
        throw std::runtime_error("not in stock");
    sink = 1;
}

KNOWN static void find(int what)
{
    Basket basket;
    search(what);
    sink = 2;
}

KNOWN static void recover(const std::exception &error)
{
    (void)error;
    spin(60);
}

KNOWN static void serve()
{
    for (int i = 0; i < 4; i++) {
        try {
            find(i);
        } catch (const std::exception &error) {
            recover(error);
        }
    }
    sink = 3;
}

} // namespace shop

int main()
{
    shop::serve();
    return 0;
}
