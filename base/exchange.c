/* exchange.c - see exchange.h. */
#include "base/exchange.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

#include "base/clock.h"

int64_t exchange_now(void)
{
    return (int64_t)(clock_ns() / 1000000);
}

bool exchange_receive(int socket, void *data, size_t size, int64_t deadline)
{
    uint8_t *at = data;
    while (size) {
        struct pollfd wait = {.fd = socket, .events = POLLIN};
        int64_t left = deadline ? deadline - exchange_now() : -1;
        if (deadline && left <= 0)
            return false;
        int ready = poll(&wait, 1, (int)left);
        ssize_t n = ready > 0 ? recv(socket, at, size, 0) : ready;
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += n;
        size -= (size_t)n;
    }
    return true;
}

bool exchange_send(int socket, const void *data, size_t size)
{
    const uint8_t *at = data;
    while (size) {
        ssize_t n = send(socket, at, size, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += n;
        size -= (size_t)n;
    }
    return true;
}
