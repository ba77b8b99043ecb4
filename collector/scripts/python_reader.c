/* python_reader.c - see python_reader.h. */
#include "collector/scripts/python_reader.h"

#include <errno.h>
#include <string.h>

#include "base/hash.h"
#include "collector/targets/proc.h"

#define THREADS_MOST 512u /* maximum steps of a walk */
#define NATIVE_ID    8u   /* PyThreadState: native_thread_id follows thread_id in each version */
#define TYPE_AT      8u   /* PyObject: ob_type */

static bool read_at(const struct python_process *p, uint64_t address, void *to, size_t size)
{
    return proc_read_memory(p->pid, address, to, size) == size;
}

static bool read_word(const struct python_process *p, uint64_t address, uint64_t *out)
{
    return read_at(p, address, out, sizeof *out);
}

/* Threads ----------------------------------------------------------------------------------------------------- */

static uint64_t state_word(const struct python_threads *t, uint32_t offset)
{
    return offset <= sizeof t->state - sizeof *t->state ? t->state[offset / 8] : 0;
}

bool python_threads_begin(const struct python_process *process, struct python_threads *out)
{
    out->process = process;
    out->steps = 0;
    out->next = 0;
    errno = 0;
    return read_word(process, process->runtime + process->layout.runtime_interpreters, &out->interpreter);
}

/* Moves to the next interpreter's threads. */
static bool enter_interpreter(struct python_threads *t)
{
    const struct python_layout *at = &t->process->layout;
    const uint64_t here = t->interpreter;
    return here && read_word(t->process, here + at->interpreter_next, &t->interpreter) &&
           read_word(t->process, here + at->interpreter_threads, &t->next);
}

bool python_threads_next(struct python_threads *t)
{
    while (t->steps++ < THREADS_MOST) {
        if (!t->next) {
            if (!enter_interpreter(t))
                return false;
        } else {
            const bool good = read_at(t->process, t->next, t->state, sizeof t->state);
            t->next = good ? state_word(t, t->process->layout.thread_next) : 0;
            if (good)
                return true;
        }
    }
    return false;
}

pid_t python_threads_id(const struct python_threads *t)
{
    return (pid_t)state_word(t, t->process->layout.thread_id + NATIVE_ID);
}

/* Chains ------------------------------------------------------------------------------------------------------ */

/* Some bytes of the process, usually several frames. */
struct window {
    uint64_t at;
    size_t size;
    uint8_t bytes[4096 + PYTHON_FRAME_BYTES];
};

/* The frame's bytes, with what precedes it in its page: usually its callers' frames. NULL: it cannot be
 * read. */
static const uint8_t *view_frame(const struct python_process *p, struct window *w, uint64_t frame)
{
    const uint64_t before = frame & 4095;
    if (frame - w->at >= w->size || w->size - (frame - w->at) < PYTHON_FRAME_BYTES) {
        w->at = frame - before;
        w->size = before + PYTHON_FRAME_BYTES;
        if (!read_at(p, w->at, w->bytes, w->size))
            w->size = 0;
    }
    return w->size ? w->bytes + (frame - w->at) : NULL;
}

static uint64_t word_of(const uint8_t *bytes, uint32_t offset)
{
    uint64_t word;
    memcpy(&word, bytes + offset, sizeof word);
    return word;
}

static void add_call(struct python_chain *c, const struct script_called *called)
{
    c->hash = hash_u64(c->hash + called->code);
    if (c->count)
        c->hash = hash_u64(c->hash + called->at);
    else
        c->at = called->at;
    c->called[c->count++] = *called;
}

/* Marks the last added function as the one with which machine code entered the interpreter's loop. */
static void mark_entered(struct python_chain *c)
{
    c->called[c->count - 1].marks = SCRIPT_ENTERED;
    c->hash = hash_u64(c->hash + SCRIPT_ENTERED);
}

/* Adds a frame. */
static void add_frame(const struct python_layout *at, const uint8_t *frame, struct python_chain *c)
{
    const uint64_t code = word_of(frame, at->frame_code), instruction = word_of(frame, at->frame_instruction);
    const uint8_t mark = frame[at->frame_mark];
    const bool shim = at->frame_shim && mark == at->frame_shim;
    if (!shim)
        add_call(c, &(struct script_called){.code = code,
                                            .at = (uint32_t)(instruction - code - at->code_instructions)});
    if (c->count && (at->frame_shim ? shim : mark != 0))
        mark_entered(c);
}

bool python_threads_chain(const struct python_threads *t, struct python_chain *out)
{
    const struct python_process *p = t->process;
    const struct python_layout *at = &p->layout;
    struct window window;
    uint64_t frame = state_word(t, at->thread_frame);
    window.at = window.size = 0;
    out->hash = (uint64_t)p->pid;
    out->count = 0;
    out->cut = false;
    if (frame && at->cframe_frame != PYTHON_NONE && !read_word(p, frame + at->cframe_frame, &frame))
        return false;
    for (unsigned steps = 0; frame; steps++) {
        const uint8_t *bytes = view_frame(p, &window, frame);
        if (!bytes)
            return false;
        out->cut = out->count == SCRIPT_CALLED_MAX || steps == 2 * SCRIPT_CALLED_MAX;
        if (out->cut)
            return true;
        add_frame(at, bytes, out);
        frame = word_of(bytes, at->frame_previous);
    }
    return true;
}

/* Code -------------------------------------------------------------------------------------------------------- */

/* Reads a compact string, at most `most` bytes; last: the end of it. */
static void read_text(const struct python_process *p, uint64_t from, struct script_text *text, uint8_t *to,
                      uint32_t most, bool last)
{
    struct python_string head;
    *text = (struct script_text){0};
    if (!read_at(p, from, &head, sizeof head) || !PYTHON_STRING_COMPACT(head.state) || head.length >> 32)
        return;
    const uint8_t width = PYTHON_STRING_WIDTH(head.state);
    const bool ascii = PYTHON_STRING_ASCII(head.state);
    if (width != 1 && width != 2 && width != 4)
        return;
    const uint64_t bytes = head.length * width, size = bytes < most ? bytes : most - 4;
    from += (ascii ? p->layout.text_ascii : p->layout.text_compact) + (last ? bytes - size : 0);
    if (read_at(p, from, to, size))
        *text = (struct script_text){
            .bytes = (uint32_t)size, .width = width, .ascii = ascii, .cut = size < bytes};
}

struct code_object {
    uint64_t words[PYTHON_CODE_BYTES / 8];
};

static bool read_object(const struct python_process *p, uint64_t code, struct code_object *out)
{
    return read_at(p, code, out, sizeof *out) &&
           (!p->layout.code_type || out->words[TYPE_AT / 8] == p->runtime + p->layout.code_type);
}

/* The addresses of a code object's texts. */
static const uint64_t *texts_of(const struct python_process *p, const struct code_object *object)
{
    return &object->words[p->layout.code_texts / 8];
}

static uint32_t line_of(const struct python_process *p, const struct code_object *object)
{
    uint32_t line;
    memcpy(&line, (const uint8_t *)object + p->layout.code_line, sizeof line);
    return line;
}

static uint64_t identity_of(const struct python_process *p, const struct code_object *object)
{
    uint64_t hash = line_of(p, object);
    for (unsigned i = 0; i < 4; i++)
        hash = hash_u64(hash + texts_of(p, object)[i]);
    return hash | 1;
}

uint64_t python_identity(const struct python_process *process, uint64_t code)
{
    struct code_object object;
    return read_object(process, code, &object) ? identity_of(process, &object) : 0;
}

/* Reads the line table up to the size that fits a record, or nothing. */
static void read_table(const struct python_process *p, uint64_t from, struct python_code *out)
{
    uint64_t length;
    out->table_size = 0;
    if (read_word(p, from + PYTHON_BYTES_LENGTH, &length) && length < SCRIPT_TABLE_MAX &&
        read_at(p, from + PYTHON_BYTES_AT, out->table, length))
        out->table_size = (uint32_t)length;
}

bool python_read_code(const struct python_process *process, uint64_t code, struct python_code *out)
{
    struct code_object object;
    if (!read_object(process, code, &object))
        return false;
    const uint64_t *texts = texts_of(process, &object);
    out->identity = identity_of(process, &object);
    out->told.line = line_of(process, &object);
    out->told.zero = 0;
    read_text(process, texts[0], &out->told.file, out->told.file_bytes, SCRIPT_FILE_MAX, true);
    read_text(process, texts[2], &out->told.name, out->told.name_bytes, SCRIPT_NAME_MAX, false);
    read_table(process, texts[3], out);
    return out->told.name.width != 0;
}
