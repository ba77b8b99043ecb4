/* case_throws.cc - exceptions: through several frames, with clean-up, thrown again, in threads. */
#include <exception>
#include <pthread.h>
#include <stdexcept>

#include "tests/probe/cases/cases.h"

extern "C" {

KNOWN void leaf(void)
{
    CALLED();
}

KNOWN void clean(void)
{
    leaf();
    witness();
    CALLED();
}

KNOWN void after(void)
{
    leaf();
    witness();
    CALLED();
}
}

struct guard {
    __attribute__((always_inline)) ~guard()
    {
        clean();
    }
};

extern "C" {

KNOWN void thrower(int how)
{
    leaf();
    if (how == 1)
        throw std::runtime_error("one");
    if (how == 2)
        throw 2;
    CALLED();
}

KNOWN void guarded(int depth, int how)
{
    guard g;
    if (depth)
        guarded(depth - 1, how);
    else
        thrower(how);
    CALLED();
}

KNOWN int catcher(int depth, int how)
{
    int caught = 0;
    try {
        guarded(depth, how);
    } catch (const std::runtime_error &) {
        caught = 1;
        after();
    }
    CALLED();
    return caught;
}

/* Catches all, and throws it again. */
KNOWN void again(int how)
{
    try {
        guarded(0, how);
    } catch (...) {
        after();
        throw;
    }
    CALLED();
}

int run_throw(const char *argument)
{
    (void)argument;
    int caught = 0;
    for (int i = 0; i < 3; i++)
        caught += catcher(2, 1);
    caught += catcher(1, 0); /* nothing is thrown */
    leaf();
    return caught != 3;
}

int run_again(const char *argument)
{
    (void)argument;
    int caught = 0;
    for (int i = 1; i <= 2; i++) {
        try {
            again(i);
        } catch (const std::exception &) {
            caught += 1;
            leaf();
        } catch (int x) {
            caught += x;
            after();
        }
    }
    CALLED();
    return caught != 3;
}

static std::exception_ptr carried;

KNOWN void carry(void)
{
    try {
        thrower(1);
    } catch (...) {
        carried = std::current_exception();
    }
    CALLED();
}

KNOWN void *worker(void *how)
{
    if (how)
        carry();
    else
        for (int i = 0; i < 50; i++)
            catcher(1, 1);
    CALLED();
    return nullptr;
}

KNOWN void land(void)
{
    try {
        std::rethrow_exception(carried);
    } catch (const std::runtime_error &) {
        after();
    }
    CALLED();
}

/* Side by side; and one that is carried into another thread. */
int run_threads(const char *argument)
{
    (void)argument;
    pthread_t ids[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&ids[i], nullptr, worker, i == 2 ? &ids : nullptr);
    for (pthread_t id : ids)
        pthread_join(id, nullptr);
    land();
    carried = nullptr;
    return 0;
}

extern const struct known_case cases[] = {
    {"throw", run_throw},
    {"again", run_again},
    {"threads", run_threads},
    {nullptr, nullptr},
};
}
