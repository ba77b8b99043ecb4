/*
 * driver.c - runs a fuzz target without libFuzzer: first on every seed, then on mutations of them.
 *
 * The arguments are a part of libFuzzer's: [-runs=N] [-seed=S] FILE-OR-DIRECTORY... The same arguments make
 * the same inputs. A crash or a sanitizer's report ends the program; before it, the number of the run that
 * was under way is written, which "-only=NUMBER" repeats.
 */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX_BYTES   (1 << 20) /* bytes */
#define MAX_SECONDS 20        /* for one input: longer is a hang */

struct input {
    uint8_t *data;
    size_t size;
};

struct inputs {
    struct input *items;
    size_t count;
};

static volatile unsigned long current; /* the run under way, for the signal handler */

static void report(int number)
{
    char text[96], digits[24];
    size_t at = sizeof digits;
    unsigned long n = current;
    do
        digits[--at] = (char)('0' + n % 10);
    while (n /= 10);
    size_t length =
        (size_t)snprintf(text, sizeof text, "%s in run ", number == SIGALRM ? "took too long" : "crashed");
    if (write(2, text, length) < 0 || write(2, digits + at, sizeof digits - at) < 0 || write(2, "\n", 1) < 0)
        _exit(2);
    signal(number, SIG_DFL);
    raise(number);
}

/* xorshift64* (Vigna, 2016) */
static uint64_t random_next(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545f4914f6cdd1dULL;
}

static size_t random_below(uint64_t *state, size_t bound)
{
    return bound ? (size_t)(random_next(state) % bound) : 0;
}

static void overwrite(struct input *in, uint64_t *state)
{
    static const uint64_t values[] = {0,
                                      1,
                                      0x7f,
                                      0x80,
                                      0xff,
                                      0x7fff,
                                      0xffff,
                                      0x7fffffff,
                                      0x80000000,
                                      0xffffffff,
                                      0x7fffffffffffffff,
                                      0xffffffffffffffff};
    size_t width = (size_t)1 << random_below(state, 4);
    if (in->size < width)
        return;
    uint64_t value = values[random_below(state, sizeof values / sizeof *values)];
    memcpy(in->data + random_below(state, in->size - width + 1), &value, width);
}

static void move_block(struct input *in, uint64_t *state, const struct input *from)
{
    if (in->size == 0 || from->size == 0)
        return;
    size_t source = random_below(state, from->size), target = random_below(state, in->size);
    size_t room = in->size - target < from->size - source ? in->size - target : from->size - source;
    memmove(in->data + target, from->data + source, random_below(state, room < 256 ? room : 256) + 1);
}

static void cut_out(struct input *in, uint64_t *state)
{
    size_t at = random_below(state, in->size);
    size_t length = random_below(state, in->size - at < 64 ? in->size - at : 64);
    memmove(in->data + at, in->data + at + length, in->size - at - length);
    in->size -= length;
}

static void mutate(struct input *in, uint64_t *state, const struct inputs *seeds)
{
    for (size_t n = 1 + random_below(state, 6); n && in->size; n--) {
        switch (random_below(state, 12)) {
        case 0:
            in->size = random_below(state, in->size);
            break;
        case 1:
            cut_out(in, state);
            break;
        case 2:
            move_block(in, state, in);
            break;
        case 3:
            move_block(in, state, &seeds->items[random_below(state, seeds->count)]);
            break;
        case 4:
        case 5:
        case 6:
            overwrite(in, state);
            break;
        default:
            in->data[random_below(state, in->size)] ^= (uint8_t)(1 << random_below(state, 8));
            break;
        }
    }
}

/* The bytes in memory of exactly their size, so that a sanitizer sees a read past them. */
static void run(const uint8_t *data, size_t size)
{
    uint8_t *exact = malloc(size ? size : 1);
    if (!exact)
        exit(2);
    memcpy(exact, data, size);
    alarm(MAX_SECONDS);
    LLVMFuzzerTestOneInput(exact, size);
    alarm(0);
    free(exact);
    current++;
}

static bool add_file(struct inputs *seeds, const char *path)
{
    FILE *f = fopen(path, "rbe");
    struct input *items = realloc(seeds->items, (seeds->count + 1) * sizeof *items);
    uint8_t *data = malloc(MAX_BYTES);
    if (items)
        seeds->items = items;
    if (!f || !items || !data) {
        fprintf(stderr, "cannot read %s\n", path);
        free(data);
        if (f)
            fclose(f);
        return false;
    }
    seeds->items[seeds->count++] = (struct input){data, fread(data, 1, MAX_BYTES, f)};
    fclose(f);
    return true;
}

static bool add_path(struct inputs *seeds, const char *path)
{
    struct stat st;
    if (stat(path, &st) < 0 || !S_ISDIR(st.st_mode))
        return add_file(seeds, path);
    struct dirent **names;
    int count = scandir(path, &names, NULL, alphasort);
    bool ok = count >= 0;
    for (int i = 0; i < count; i++) {
        char file[4096];
        snprintf(file, sizeof file, "%s/%s", path, names[i]->d_name);
        if (stat(file, &st) == 0 && S_ISREG(st.st_mode))
            ok &= add_file(seeds, file);
        free(names[i]);
    }
    if (count >= 0)
        free(names);
    return ok;
}

int main(int argc, char **argv)
{
    struct inputs seeds = {0};
    unsigned long runs = 1000, seed = 1, only = 0;
    bool single = false, ok = true;
    for (int i = 1; i < argc; i++) {
        if (sscanf(argv[i], "-only=%lu", &only) == 1)
            single = true;
        else if (sscanf(argv[i], "-runs=%lu", &runs) != 1 && sscanf(argv[i], "-seed=%lu", &seed) != 1)
            ok &= add_path(&seeds, argv[i]);
    }
    if (!ok || seeds.count == 0) {
        fprintf(stderr, "usage: %s [-runs=N] [-seed=S] [-only=RUN] SEEDS...\n", argv[0]);
        return 2;
    }
    static const int fatal[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGALRM};
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
        signal(fatal[i], report);
    uint8_t *data = malloc(MAX_BYTES);
    if (!data)
        return 2;
    for (size_t i = 0; i < seeds.count && !single; i++)
        run(seeds.items[i].data, seeds.items[i].size);
    for (unsigned long n = single ? only : seeds.count; n < (single ? only + 1 : seeds.count + runs); n++) {
        uint64_t state = (seed << 32) + n + 0x9e3779b97f4a7c15ULL;
        random_next(&state);
        const struct input *from = &seeds.items[n % seeds.count];
        struct input in = {data, from->size};
        memcpy(data, from->data, from->size);
        mutate(&in, &state, &seeds);
        current = n;
        run(in.data, in.size);
    }
    printf("%lu runs of %zu seeds\n", runs, seeds.count);
    for (size_t i = 0; i < seeds.count; i++)
        free(seeds.items[i].data);
    free(seeds.items);
    free(data);
    return 0;
}
