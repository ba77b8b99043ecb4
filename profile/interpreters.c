/* interpreters.c - see interpreters.h. */
#include "profile/interpreters.h"

#include <ctype.h>
#include <string.h>

#include "image/run_time.h"

/* Names of programs and libraries in Linux distributions, without "lib" and the version. */
static const char *const names[] = {"python", "pypy", "ruby", "php",    "node", "nodejs",
                                    "java",   "jvm",  "perl", "luajit", "lua"};

/* "python3.11", "libruby-3.1.so.3.1.2", "lua5.4", but not "perlbench". */
static bool is_interpreter(const char *image)
{
    if (strncmp(image, "lib", 3) == 0)
        image += 3;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t length = strlen(names[i]);
        if (strncmp(image, names[i], length) == 0 && !isalpha((unsigned char)image[length]))
            return true;
    }
    return false;
}

/* Whether it is a function of the program that an interpreter runs: an interpreted one, or code made at run time that is named
 * after a file or class, as the interpreter's own parts are not. */
static bool is_of_program(const struct frame *frame)
{
    return frame->kind == FRAME_SCRIPT ||
           (frame->kind == FRAME_FUNCTION && strcmp(frame->image, RUN_TIME_NAME) == 0 &&
            strpbrk(frame->name, "./"));
}

/* The weight of a subtree, except for *named: what is below functions of the interpreted program. */
static uint64_t weight_below(const struct frames *frames, struct cct_node *top, uint64_t *named)
{
    uint64_t weight = 0;
    const struct cct_node *script = NULL, *end = NULL;
    for (struct cct_node *n = top; n; n = cct_next(top, n)) {
        if (script && n == end)
            script = NULL;
        if (!script && is_of_program(frames_at(frames, n->item))) {
            script = n;
            end = cct_next_beside(top, n);
        }
        *(script ? named : &weight) += n->self[0];
    }
    return weight;
}

const char *interpreter_in(const struct contexts *contexts)
{
    struct cct_node *root = cct_root(contexts->tree);
    uint64_t known = 0, interpreted = 0, most = 0, all_named = 0;
    const char *found = NULL;
    for (struct cct_node *n = cct_next(root, root); n;) {
        const struct frame *frame = frames_at(contexts->frames, n->item);
        bool unknown = frame && frame_is_unknown(frame);
        if (!unknown && !(frame && is_interpreter(frame->image))) {
            known += n->self[0];
            n = cct_next(root, n);
            continue;
        }
        uint64_t named = 0, below = unknown ? 0 : weight_below(contexts->frames, n, &named);
        if (below > most) {
            most = below;
            found = frame->image;
        }
        known += below + named;
        interpreted += below;
        all_named += named;
        n = cct_next_beside(root, n);
    }
    return (double)interpreted >= INTERPRETED_LEAST * (double)known && interpreted > all_named ? found : NULL;
}

bool interpreters_run(const struct contexts *contexts, unsigned language)
{
    for (uint32_t i = 0; i < frames_count(contexts->frames); i++) {
        const struct frame *frame = frames_at(contexts->frames, i);
        if (frame->kind == FRAME_SCRIPT && frame->language == language)
            return true;
    }
    return false;
}
