/* What interpreters ran, by script records. */
#include <criterion/criterion.h>
#include <string.h>

#include "perfdata/script_lines.h"
#include "perfdata/scripts.h"

#define PID 7u

static struct scripts *scripts;

static void start(void)
{
    scripts = scripts_new();
    cr_assert(scripts);
}

static void stop(void)
{
    scripts_free(scripts);
}

TestSuite(scripts, .init = start, .fini = stop);

static int take(uint32_t tid, const void *raw, size_t size)
{
    const struct sample sample = {.pid = PID, .tid = tid, .raw = raw, .raw_size = (uint32_t)size};
    return scripts_take(scripts, &sample, NULL);
}

struct told {
    struct script_record head;
    struct script_code_told code;
    uint8_t table[4];
};

static struct told code_at(uint64_t address, const char *name, const char *file, uint32_t line)
{
    struct told told = {.head = {.magic = SCRIPT_RECORD_MAGIC,
                                 .version = SCRIPT_RECORD_VERSION,
                                 .kind = SCRIPT_CODE,
                                 .language = SCRIPT_PYTHON,
                                 .count = sizeof told.table,
                                 .number = address},
                        .code = {.line = line,
                                 .name = {.bytes = (uint32_t)strlen(name), .width = 1, .ascii = 1},
                                 .file = {.bytes = (uint32_t)strlen(file), .width = 1, .ascii = 1}},
                        /* two instructions in the line below the first, then two further */
                        .table = {0x80 | 13 << 3 | 1, 2, 0x80 | 13 << 3 | 1, 2}};
    memcpy(told.code.name_bytes, name, strlen(name));
    memcpy(told.code.file_bytes, file, strlen(file));
    return told;
}

static void tell_code(uint64_t address, const char *name, const char *file, uint32_t line)
{
    const struct told told = code_at(address, name, file, line);
    cr_expect_eq(take(PID, &told, sizeof told), 1);
}

struct chain {
    struct script_record head;
    struct script_called called[3];
};

static struct chain chain_of(uint64_t number, uint64_t inner, uint64_t middle, uint64_t outer)
{
    return (struct chain){.head = {.magic = SCRIPT_RECORD_MAGIC,
                                   .version = SCRIPT_RECORD_VERSION,
                                   .kind = SCRIPT_CHAIN,
                                   .language = SCRIPT_PYTHON,
                                   .count = 3,
                                   .number = number},
                          .called = {{inner, 0, SCRIPT_ENTERED}, {middle, 4, 0}, {outer, 0, SCRIPT_ENTERED}}};
}

static int tell(uint32_t tid, uint8_t kind, uint64_t number, uint32_t at)
{
    const struct script_record head = {.magic = SCRIPT_RECORD_MAGIC,
                                       .version = SCRIPT_RECORD_VERSION,
                                       .kind = kind,
                                       .at = at,
                                       .number = number};
    return take(tid, &head, sizeof head);
}

static void expect(const struct script_frame *frame, const char *name, uint32_t line, bool entered)
{
    cr_assert(frame);
    cr_expect_str_eq(frame->code->name, name);
    cr_expect_eq(frame->line, line, "%s: %u", name, frame->line);
    cr_expect_eq(frame->entered, entered, "%s", name);
}

static void tell_three(uint64_t number)
{
    tell_code(0x100, "sort_key", "/srv/app.py", 10);
    tell_code(0x200, "handler", "/srv/app.py", 20);
    tell_code(0x300, "<module>", "/srv/main.py", 1);
    const struct chain chain = chain_of(number, 0x100, 0x200, 0x300);
    cr_assert_eq(take(PID, &chain, sizeof chain), 1);
}

Test(scripts, a_chain_has_functions_and_lines)
{
    tell_three(5);
    const struct script_frame *inner = scripts_of(scripts, PID);
    expect(inner, "sort_key", 11, true);
    cr_expect_str_eq(inner->code->file, "/srv/app.py");
    cr_expect_eq(inner->code->line, 10u);
    expect(inner->outer, "handler", 22, false);
    expect(inner->outer->outer, "<module>", 2, true);
    cr_expect_null(inner->outer->outer->outer);
    cr_expect_null(scripts_of(scripts, 99), "another thread runs none");
}

Test(scripts, the_same_chain_is_at_another_line_or_in_another_thread)
{
    tell_three(5);
    const struct script_frame *before = scripts_of(scripts, PID);
    cr_expect_eq(tell(8, SCRIPT_SAME, 5, 0), 1);
    cr_expect_eq(scripts_of(scripts, 8), before, "equal frames are one");
    cr_expect_eq(tell(8, SCRIPT_SAME, 5, 6), 1);
    expect(scripts_of(scripts, 8), "sort_key", 12, true);
    cr_expect_eq(scripts_of(scripts, 8)->outer, before->outer);
    cr_expect_eq(tell(8, SCRIPT_SAME, 5, 100), 1);
    expect(scripts_of(scripts, 8), "sort_key", 0, true);
    cr_expect_eq(tell(8, SCRIPT_NONE, 0, 0), 1);
    cr_expect_null(scripts_of(scripts, 8));
    scripts_forget(scripts, PID);
    cr_expect_null(scripts_of(scripts, PID));
}

/* SCRIPT_SAME of a chain, read at another instant than the sample's. */
static void tell_reading(uint64_t number, uint32_t at)
{
    const struct script_record head = {.magic = SCRIPT_RECORD_MAGIC,
                                       .version = SCRIPT_RECORD_VERSION,
                                       .kind = SCRIPT_SAME,
                                       .flags = SCRIPT_POLLED,
                                       .at = at,
                                       .number = number};
    cr_assert_eq(take(PID, &head, sizeof head), 1);
}

Test(scripts, readings_know_those_before_and_behind)
{
    tell_three(5);
    cr_expect_null(scripts_of(scripts, PID)->reading, "of the sample itself");
    cr_expect_eq(scripts_readings(scripts), 0u);
    tell_reading(5, 0);
    const struct script_frame *first = scripts_of(scripts, PID);
    cr_assert_not_null(first->reading);
    expect(first, "sort_key", 11, true);
    cr_expect_eq(first->reading->entered, 2u, "the outermost, and the innermost");
    cr_expect_null(first->reading->after);
    tell_reading(5, 6);
    const struct script_frame *second = scripts_of(scripts, PID);
    expect(second, "sort_key", 12, true);
    cr_expect_eq(second->reading->before, first->reading);
    cr_expect_eq(first->reading->after, second->reading);
    cr_expect_eq(scripts_readings(scripts), 2u);
    cr_expect_eq(scripts_forget_readings(scripts), 0);
    expect(scripts_of(scripts, PID), "sort_key", 12, true);
    cr_expect_null(scripts_of(scripts, PID)->reading, "it is as if it had been announced");
    scripts_forget(scripts, PID);
    tell_reading(5, 0);
    cr_expect_null(scripts_of(scripts, PID)->reading->before, "another thread");
}

Test(scripts, an_address_has_other_code_later)
{
    tell_three(5);
    tell_code(0x100, "other", "/srv/b.py", 1);
    const struct chain chain = chain_of(6, 0x100, 0x200, 0x300);
    cr_assert_eq(take(PID, &chain, sizeof chain), 1);
    cr_expect_str_eq(scripts_of(scripts, PID)->code->name, "other");
    cr_expect_eq(tell(PID, SCRIPT_SAME, 5, 0), 1);
    cr_expect_str_eq(scripts_of(scripts, PID)->code->name, "sort_key", "as it was announced");
}

Test(scripts, what_is_damaged_is_counted_and_not_known)
{
    tell_three(5);
    const struct chain chain = chain_of(7, 1, 2, 3);
    cr_expect_eq(tell(PID, SCRIPT_SAME, 6, 0), 1, "never announced");
    cr_expect_eq(scripts_of(scripts, PID), &script_not_read);
    cr_expect_eq(take(PID, &chain, sizeof chain - 1), 1, "cut");
    cr_expect_eq(tell(PID, 77, 5, 0), 1, "no such kind");
    struct told told = code_at(1, "a", "b", 3);
    told.head.count += 8;
    cr_expect_eq(take(PID, &told, sizeof told), 1, "a table that is not there");
    told = code_at(1, "a", "b", 3);
    told.code.name.width = 7;
    cr_expect_eq(take(PID, &told, sizeof told), 1, "no such character");
    cr_expect_eq(scripts_damaged(scripts), 5u);
    cr_expect_eq(take(PID, "no", 2), 0, "no script record");
    cr_expect_eq(tell(PID, SCRIPT_UNREAD, 0, 0), 1);
    cr_expect_eq(scripts_of(scripts, PID), &script_not_read);
    scripts_restart(scripts);
    cr_expect_eq(scripts_damaged(scripts), 0u);
    cr_expect_null(scripts_of(scripts, PID));
    cr_expect_eq(tell(PID, SCRIPT_SAME, 5, 0), 1, "chains stay");
    cr_expect_str_eq(scripts_of(scripts, PID)->code->name, "sort_key");
}

Test(scripts, code_that_was_not_told_has_no_name)
{
    const struct chain chain = chain_of(9, 0x100, 0x200, 0x300);
    cr_expect_eq(take(PID, &chain, sizeof chain), 1);
    expect(scripts_of(scripts, PID), "", 0, true);
}

Test(scripts, names_become_utf8)
{
    static const struct {
        uint8_t width, bytes[8];
        uint32_t size;
        const char *utf8;
    } cases[] = {{1, {'f', 0xe9}, 2, "f\xc3\xa9"},
                 {2, {0x3b, 0x04, 'x', 0}, 4, "\xd0\xbbx"},
                 {2, {0x00, 0xd8}, 2, "\xef\xbf\xbd"},
                 {4, {0x00, 0xf6, 0x01, 0}, 4, "\xf0\x9f\x98\x80"},
                 {4, {0xff, 0xff, 0xff, 0xff}, 4, "\xef\xbf\xbd"},
                 {1, {'a', 0, 'b'}, 3, "a?b"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct told told = code_at(0x100, "", "", 1);
        told.code.name = (struct script_text){.bytes = cases[i].size, .width = cases[i].width};
        memcpy(told.code.name_bytes, cases[i].bytes, sizeof cases[i].bytes);
        struct chain chain = chain_of(20 + i, 0x100, 0x100, 0x100);
        cr_assert_eq(take(PID, &told, sizeof told), 1);
        cr_assert_eq(take(PID, &chain, sizeof chain), 1);
        cr_expect_str_eq(scripts_of(scripts, PID)->code->name, cases[i].utf8, "case %zu", i);
    }
}

/* Of a function that CPython 3.11.7 compiled, with its own co_lines(). */
Test(script_lines, are_those_of_the_table)
{
    static const uint8_t table[] = {
        0x80, 0x00, 0xf0, 0x02, 0x01, 0x09, 0x15, 0xf0, 0x00, 0x01, 0x09, 0x15, 0xd8, 0x12, 0x13, 0xf0, 0x03,
        0x01, 0x09, 0x15, 0xf1, 0x00, 0x01, 0x09, 0x15, 0xf4, 0x00, 0x01, 0x09, 0x15, 0x80, 0x41, 0xf0, 0x06,
        0x00, 0x0e, 0x0f, 0xf0, 0x00, 0x48, 0x01, 0x05, 0x11, 0xf0, 0x00, 0x48, 0x01, 0x05, 0x11, 0x88, 0x01,
        0xd8, 0x0b, 0x0c, 0x88, 0x71, 0x8a, 0x35, 0x88, 0x35, 0x90, 0x71, 0xd8, 0x0c, 0x0d, 0x88, 0x61, 0x8c,
        0x44, 0xf1, 0x03, 0x01, 0x18, 0x11, 0x90, 0x21, 0xf5, 0x4e, 0x02, 0x00, 0x09, 0x0e, 0x88, 0x61, 0x89,
        0x08, 0x8c, 0x08, 0x88, 0x08, 0x88, 0x08, 0xd8, 0x0b, 0x0c, 0x80, 0x48};
    static const struct {
        uint32_t at, line;
    } cases[] = {{0, 2},  {2, 3},  {6, 4},  {8, 3},   {24, 3},  {26, 6},   {34, 7},   {46, 7},
                 {48, 8}, {60, 8}, {62, 7}, {68, 78}, {98, 78}, {100, 79}, {102, 79}, {104, 0}};
    struct script_row rows[sizeof table];
    const size_t count = python_rows(table, sizeof table, 2, rows);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect_eq(script_line(rows, count, cases[i].at), cases[i].line, "at %u: %u", cases[i].at,
                     script_line(rows, count, cases[i].at));
    for (size_t i = 1; i < count; i++)
        cr_expect(rows[i].end > rows[i - 1].end && rows[i].line != rows[i - 1].line, "row %zu", i);
    cr_expect_eq(python_rows(table + 1, sizeof table - 1, 2, rows), 0u, "no entry begins there");
    cr_expect_eq(script_line(rows, python_rows(table, 3, 2, rows), 100), 0u, "cut");
    cr_expect_eq(python_rows(NULL, 0, 2, rows), 0u);
    cr_expect_eq(script_line(NULL, 0, 0), 0u);
    cr_expect_eq(python_rows((const uint8_t[]){0xf8}, 1, 2, rows), 1u);
    cr_expect_eq(script_line(rows, 1, 0), 0u, "an instruction of no line");
}

/* As succ_index_table_create() of Ruby's iseq.c does: where lines begin, ascending. Returns the table's size. */
static size_t put_ruby_table(uint8_t *table, uint32_t words, const uint32_t *begins, const uint32_t *lines,
                             uint32_t count)
{
    const uint32_t immediate = (words < 54 ? words + 8 : 54) / 9;
    uint64_t *positions = (uint64_t *)(table + 8);
    uint32_t rank = 0, blocks = words < 54 ? 0 : (words - 54 + 511) / 512;
    memcpy(table, &words, 4);
    memcpy(table + 4, &count, 4);
    memset(positions, 0, 8 * immediate + 80 * blocks);
    for (uint32_t i = 0; i < 9 * immediate; i++) {
        rank += rank < count && begins[rank] == i;
        positions[i / 9] |= (uint64_t)rank << i % 9 * 7;
    }
    for (uint32_t k = 0; k < blocks; k++) {
        uint64_t *block = positions + immediate + 10 * k;
        uint32_t small = 0;
        block[0] = rank;
        for (uint32_t i = 0; i < 512; i++) {
            if (i % 64 == 0 && i)
                block[1] |= (uint64_t)small << (i / 64 - 1) * 9;
            if (rank < count && begins[rank] == 54 + 512 * k + i) {
                block[2 + i / 64] |= 1ull << i % 64;
                rank++;
                small++;
            }
        }
    }
    uint8_t *entries = (uint8_t *)(positions + immediate + 10 * blocks);
    for (uint32_t i = 0; i < count; i++)
        memcpy(entries + 12 * i, &lines[i], 4);
    return (size_t)(entries - table) + 12 * (size_t)count;
}

Test(script_lines, are_those_of_rubys_table)
{
    static const uint32_t sizes[] = {1, 9, 53, 54, 55, 566, 567, 1500};
    static uint64_t room[4096];
    static struct script_row rows[4000];
    uint8_t *table = (uint8_t *)room;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        uint32_t begins[1500], lines[1500], count = 0;
        for (uint32_t at = 0; at < sizes[s]; at += 1 + (at * 7 + count) % 5) {
            begins[count] = at;
            lines[count++] = 10 + at / 3 % 40;
        }
        const size_t size = put_ruby_table(table, sizes[s], begins, lines, count);
        const size_t row_count = ruby_rows(table, size, rows, sizeof rows / sizeof *rows);
        for (uint32_t at = 0, entry = 0; at < sizes[s]; at++) {
            entry += entry + 1 < count && begins[entry + 1] == at;
            cr_expect_eq(script_line(rows, row_count, 8 * at), lines[entry], "%u of %u", at, sizes[s]);
        }
        cr_expect_eq(script_line(rows, row_count, 8 * sizes[s]), 0u);
        for (size_t cut = 1; cut <= size; cut += 7)
            cr_expect_eq(ruby_rows(table, size - cut, rows, 4000), 0u, "cut");
        cr_expect(ruby_rows(table, size, rows, 3) <= 3);
    }
}

/* PHP's texts are bytes, its lines are told as they are, and what stands in no function has no name. */
Test(scripts, of_php_are_as_they_are_told)
{
    struct told top = code_at(0x300, "", "/srv/\xc3\xa9.php", 1),
                method = code_at(0x200, "Some\\Kind::gr\xc3\xb6\xc3\x9f", "/srv/a.php", 20),
                unread = code_at(0x100, "", "/srv/a.php", 30);
    unread.code.name.width = 0;
    struct told *const codes[] = {&top, &method, &unread};
    for (size_t i = 0; i < 3; i++) {
        codes[i]->head.language = SCRIPT_PHP;
        cr_assert_eq(take(PID, codes[i], sizeof *codes[i]), 1);
    }
    struct chain chain = chain_of(5, 0x100, 0x200, 0x300);
    chain.head.at = 31;
    cr_assert_eq(take(PID, &chain, sizeof chain), 1);
    const struct script_frame *inner = scripts_of(scripts, PID);
    expect(inner, "", 31, true);
    expect(inner->outer, "Some\\Kind::gr\xc3\xb6\xc3\x9f", 4, false);
    expect(inner->outer->outer, "{main}", 0, true);
    cr_expect_str_eq(inner->outer->outer->code->file, "/srv/\xc3\xa9.php");
}

/* JavaScript's texts have a byte of Latin-1 or two of UTF-16 a character. */
Test(scripts, of_javascript_have_files_and_a_name)
{
    struct told module = code_at(0x301, "", "file:///srv/a.mjs", 1),
                wide = code_at(0x201, "", "node:events", 20);
    struct told *const codes[] = {&module, &wide};
    wide.code.name = (struct script_text){.bytes = 4, .width = 2};
    memcpy(wide.code.name_bytes, "\xdf\0\x0d\x54", 4);
    for (size_t i = 0; i < 2; i++) {
        codes[i]->head.language = SCRIPT_JAVASCRIPT;
        cr_assert_eq(take(PID, codes[i], sizeof *codes[i]), 1);
    }
    struct chain chain = chain_of(6, 0x201, 0x301, 0x301);
    cr_assert_eq(take(PID, &chain, sizeof chain), 1);
    const struct script_frame *inner = scripts_of(scripts, PID);
    cr_expect_str_eq(inner->code->name, "\xc3\x9f\xe5\x90\x8d");
    cr_expect_str_eq(inner->code->file, "node:events");
    cr_expect_eq(inner->line, 0u, "no line but its first is known");
    cr_expect_str_eq(inner->outer->code->name, "(anonymous)");
    cr_expect_str_eq(inner->outer->code->file, "/srv/a.mjs");
}
