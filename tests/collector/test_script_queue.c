/* What CPython runs in the threads of a process, read from outside: of a process that is this one, with structs as CPython 3.11's. */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "collector/rings/records.h"
#include "collector/scripts/python_reader.h"
#include "collector/scripts/script_queue.h"

#define ID 77u

/* Offsets are ours. */
struct text {
    uint64_t count, type, length, hash;
    uint32_t state, zero;
    uint64_t other;
    char bytes[24];
};
struct table {
    uint64_t count, type, length, hash;
    uint8_t bytes[8];
};
struct code {
    uint64_t count, type, line;
    const void *file, *name, *qualified, *table;
    uint8_t instructions[256];
};
struct frame {
    const struct code *code;
    const struct frame *previous;
    const uint8_t *instruction;
    uint64_t mark;
    uint64_t rest[10];
};
struct state {
    struct state *next;
    uint64_t interpreter, self, native;
    const struct frame *frame;
    uint64_t rest[32];
};
struct interpreter {
    const struct interpreter *next;
    const struct state *threads;
};
struct runtime {
    const struct interpreter *first;
};

static const uint64_t code_type = 0x1234;
static struct text file_name = {.length = 6, .state = 1 << 2 | 1 << 5 | 1 << 6, .bytes = "prog.py"};
static struct text names[2] = {{.length = 5, .state = 1 << 2 | 1 << 5 | 1 << 6, .bytes = "outer"},
                               {.length = 5, .state = 1 << 2 | 1 << 5 | 1 << 6, .bytes = "inner"}};
static struct table table = {.length = 4};
static struct code codes[2];
static struct frame frames[2];
static struct state states[2];
static struct interpreter interpreter;
static struct runtime runtime;
static struct python_process process;
static struct script_queue *queue;

static uint64_t address(const void *of)
{
    return (uintptr_t)of;
}

static void start(void)
{
    for (unsigned i = 0; i < 2; i++)
        codes[i] = (struct code){.type = code_type,
                                 .line = 10 + i,
                                 .file = &file_name,
                                 .name = &names[i],
                                 .qualified = &names[i],
                                 .table = &table};
    frames[0] = (struct frame){.code = &codes[0], .instruction = codes[0].instructions + 20, .mark = 1};
    frames[1] =
        (struct frame){.code = &codes[1], .previous = &frames[0], .instruction = codes[1].instructions + 8};
    states[0] = (struct state){.next = &states[1], .native = 501, .frame = &frames[1]};
    states[1] = (struct state){.native = 502};
    interpreter = (struct interpreter){.threads = states};
    runtime = (struct runtime){&interpreter};
    process = (struct python_process){.pid = getpid(),
                                      .runtime = address(&runtime),
                                      .layout = {.code_type = code_type - address(&runtime),
                                                 .runtime_interpreters = offsetof(struct runtime, first),
                                                 .interpreter_next = offsetof(struct interpreter, next),
                                                 .interpreter_threads = offsetof(struct interpreter, threads),
                                                 .thread_next = offsetof(struct state, next),
                                                 .thread_id = offsetof(struct state, self),
                                                 .thread_frame = offsetof(struct state, frame),
                                                 .cframe_frame = PYTHON_NONE,
                                                 .frame_code = offsetof(struct frame, code),
                                                 .frame_previous = offsetof(struct frame, previous),
                                                 .frame_instruction = offsetof(struct frame, instruction),
                                                 .frame_mark = offsetof(struct frame, mark),
                                                 .code_line = offsetof(struct code, line),
                                                 .code_texts = offsetof(struct code, file),
                                                 .code_instructions = offsetof(struct code, instructions),
                                                 .text_ascii = offsetof(struct text, bytes),
                                                 .text_compact = offsetof(struct text, bytes)}};
    queue = script_queue_new(ID);
    cr_assert(queue);
}

static void stop(void)
{
    script_queue_free(queue);
}

TestSuite(script_queue, .init = start, .fini = stop);

static struct python_chain chain;

/* Reads all threads. Their number. */
static unsigned poll(uint64_t time)
{
    struct python_threads threads;
    unsigned count = 0;
    cr_assert(python_threads_begin(&process, &threads));
    for (; python_threads_next(&threads); count++)
        if (python_threads_chain(&threads, &chain))
            script_queue_add(queue, &process, (uint32_t)python_threads_id(&threads), time, &chain);
    return count;
}

/* The records that were passed on last. */
static struct seen {
    uint32_t tid;
    uint64_t time;
    struct script_record script;
    uint8_t behind[sizeof(struct script_code_told) + 64];
} seen[16];
static size_t seen_count;

static int take(void *context, const void *records, size_t size, struct fathom_error *err)
{
    (void)context;
    (void)err;
    for (size_t at = 0; at < size && seen_count < 16;) {
        struct sample_record sample;
        struct seen *s = &seen[seen_count++];
        const uint8_t *raw = (const uint8_t *)records + at + sizeof sample + sizeof(uint32_t);
        memcpy(&sample, (const uint8_t *)records + at, sizeof sample);
        cr_assert_eq(sample.id, ID);
        cr_assert_eq(sample.header.size % 8, 0);
        cr_assert_leq(at + sample.header.size, size);
        *s = (struct seen){.tid = sample.tid, .time = sample.time};
        memcpy(&s->script, raw, sizeof s->script);
        const size_t left = sample.header.size - sizeof sample - sizeof(uint32_t) - sizeof s->script;
        memcpy(s->behind, raw + sizeof s->script, left < sizeof s->behind ? left : sizeof s->behind);
        at += sample.header.size;
    }
    return 0;
}

/* How many records were made since the last call. */
static size_t passed(void)
{
    struct batch batch;
    cr_assert_eq(batch_init(&batch, NULL), 0);
    batch.sink = take;
    seen_count = 0;
    cr_assert_eq(script_queue_pass(queue, &batch, NULL), 0);
    cr_assert_eq(batch_flush(&batch, NULL), 0);
    batch_free(&batch);
    return seen_count;
}

static void expect_code(const struct seen *s, const struct code *code, const char *name)
{
    struct script_code_told told;
    memcpy(&told, s->behind, sizeof told);
    cr_expect_eq(s->script.kind, SCRIPT_CODE);
    cr_expect_eq(s->script.number, address(code));
    cr_expect_eq(told.line, code->line);
    cr_expect_eq(told.name.bytes, strlen(name));
    cr_expect_arr_eq(told.name_bytes, name, strlen(name));
    cr_expect_arr_eq(told.file_bytes, "prog.p", 6, "as long as it says");
}

Test(script_queue, tells_code_once_then_the_chain)
{
    cr_assert_eq(poll(1000), 2);
    cr_assert_eq(passed(), 3);
    expect_code(&seen[0], &codes[1], "inner");
    expect_code(&seen[1], &codes[0], "outer");
    const struct script_record *told = &seen[2].script;
    struct script_called called[2];
    memcpy(called, seen[2].behind, sizeof called);
    cr_expect_eq(told->kind, SCRIPT_CHAIN);
    cr_expect_eq(told->flags, SCRIPT_POLLED);
    cr_expect_eq(told->count, 2);
    cr_expect_eq(told->at, 8);
    cr_expect_eq(seen[2].tid, 501);
    cr_expect_eq(seen[2].time, 1000);
    cr_expect_eq(called[0].code, address(&codes[1]));
    cr_expect_eq(called[0].marks, 0);
    cr_expect_eq(called[1].code, address(&codes[0]));
    cr_expect_eq(called[1].at, 20);
    cr_expect_eq(called[1].marks, SCRIPT_ENTERED);
}

Test(script_queue, tells_what_changes)
{
    poll(1000);
    passed();
    poll(2000);
    cr_expect_eq(passed(), 0, "the same");
    frames[1].instruction++;
    poll(3000);
    cr_assert_eq(passed(), 1);
    cr_expect_eq(seen[0].script.kind, SCRIPT_SAME);
    cr_expect_eq(seen[0].script.at, 9);
    frames[0].instruction++;
    poll(4000);
    cr_assert_eq(passed(), 1, "no code is told twice");
    cr_expect_eq(seen[0].script.kind, SCRIPT_CHAIN);
    states[0].frame = NULL;
    poll(5000);
    cr_assert_eq(passed(), 1);
    cr_expect_eq(seen[0].script.kind, SCRIPT_NONE);
    poll(6000);
    cr_expect_eq(passed(), 0);
}

Test(script_queue, tells_other_code_at_an_address)
{
    poll(1000);
    passed();
    codes[0].line = 99;
    poll(2000);
    poll(3000); /* one function of the chain is looked at each time */
    cr_assert_eq(passed(), 2);
    cr_expect_eq(seen[0].script.kind, SCRIPT_CODE);
    cr_expect_eq(seen[0].script.number, address(&codes[0]));
    cr_expect_eq(seen[1].script.kind, SCRIPT_CHAIN);
    poll(4000);
    cr_expect_eq(passed(), 0);
}

Test(script_queue, takes_nothing_for_code_that_is_none)
{
    codes[1].type = 0x99;
    poll(1000);
    cr_expect_eq(passed(), 0);
    codes[1].type = code_type;
    frames[1].code = (const struct code *)(uintptr_t)0x10;
    poll(2000);
    cr_expect_eq(passed(), 0);
}

Test(script_queue, ends_whatever_the_lists_say)
{
    frames[0].previous = &frames[1];
    states[1].next = &states[0];
    cr_expect_leq(poll(1000), 512);
    passed();
    struct python_threads threads;
    cr_assert(python_threads_begin(&process, &threads));
    cr_assert(python_threads_next(&threads));
    cr_expect(python_threads_chain(&threads, &chain));
    cr_expect(chain.cut);
    cr_expect_eq(chain.count, SCRIPT_CALLED_MAX);
    frames[0].previous = (const struct frame *)(uintptr_t)0x18;
    cr_expect_not(python_threads_chain(&threads, &chain), "that memory is not there");
    states[0].next = (struct state *)(uintptr_t)0x20;
    cr_expect_eq(poll(2000), 1);
    process.pid = -1;
    cr_expect_not(python_threads_begin(&process, &threads));
}

Test(script_queue, tells_once_that_memory_may_not_be_read)
{
    cr_expect_eq(script_queue_take_refused(queue), 0);
    script_queue_refused(queue, 12);
    script_queue_refused(queue, 13);
    cr_expect_eq(script_queue_take_refused(queue), 12);
    script_queue_refused(queue, 12);
    cr_expect_eq(script_queue_take_refused(queue), 0);
}
