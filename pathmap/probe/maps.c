/*
 * maps.c - see maps.h. The format: proc(5); lines are sorted by address.
 */
#include "pathmap/probe/maps.h"

#include "base/raw.h"

#define BUFFER_SIZE 8192u /* a line: 73 characters and a path of 4095 at most */

bool maps_open(struct maps *maps)
{
    maps->fd = raw_open(MAPS_FILE, O_RDONLY);
    if (maps->fd < 0)
        return false;
    maps->buffer = raw_memory(BUFFER_SIZE);
    if (!maps->buffer) {
        raw_close(maps->fd);
        return false;
    }
    maps->used = maps->next = 0;
    return true;
}

void maps_close(struct maps *maps)
{
    raw_munmap(maps->buffer, BUFFER_SIZE);
    raw_close(maps->fd);
}

/* The next line, NUL-terminated; NULL: no more. */
static char *next_line(struct maps *maps)
{
    for (;;) {
        for (uint32_t i = maps->next; i < maps->used; i++) {
            if (maps->buffer[i] == '\n') {
                char *line = maps->buffer + maps->next;
                maps->buffer[i] = 0;
                maps->next = i + 1;
                return line;
            }
        }
        uint32_t rest = maps->used - maps->next;
        for (uint32_t i = 0; maps->next && i < rest; i++)
            *(volatile char *)&maps->buffer[i] = maps->buffer[maps->next + i];
        maps->next = 0;
        maps->used = rest;
        long n = rest < BUFFER_SIZE ? raw_read(maps->fd, maps->buffer + rest, BUFFER_SIZE - rest) : 0;
        if (n <= 0)
            return NULL;
        maps->used += (uint32_t)n;
    }
}

/* Parses a number and skips the character after it. */
static uint64_t number(char **p, unsigned base)
{
    uint64_t value = 0;
    for (;; (*p)++) {
        unsigned c = (unsigned char)**p, digit = c >= '0' && c <= '9' ? c - '0' : c - 'a' + 10;
        if (digit >= base)
            break;
        value = value * base + digit;
    }
    if (**p)
        (*p)++;
    return value;
}

/* The kernel escapes only newlines in names, as \012 (seq_path()). */
static void decode_name(char *name)
{
    char *to = name;
    for (const char *from = name; *from; to++) {
        bool line_end = from[0] == '\\' && from[1] == '0' && from[2] == '1' && from[3] == '2';
        *(volatile char *)to = line_end ? '\n' : *from; /* (no call of libc for the loop) */
        from += line_end ? 4 : 1;
    }
    *to = 0;
}

bool maps_next(struct maps *maps, struct maps_line *out)
{
    char *p = next_line(maps);
    if (!p)
        return false;
    out->start = number(&p, 16);
    out->end = number(&p, 16);
    out->prot = 0;
    for (; *p && *p != ' '; p++)
        out->prot |= *p == 'r' ? PROT_READ : *p == 'w' ? PROT_WRITE : *p == 'x' ? PROT_EXEC : 0;
    p += *p == ' ';
    out->offset = number(&p, 16);
    out->device = number(&p, 16) << 32;
    out->device |= number(&p, 16);
    out->inode = number(&p, 10);
    while (*p == ' ')
        p++;
    decode_name(p);
    out->path = p;
    return true;
}
