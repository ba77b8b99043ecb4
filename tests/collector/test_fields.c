/* Fields of tracepoints: where they are, and what a sample weighs by them. */
#include <criterion/criterion.h>
#include <string.h>

#include "collector/events/fields.h"

static const char format[] =
    "name: block_rq_issue\nID: 1\nformat:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
    "\tfield:dev_t dev;\toffset:8;\tsize:4;\tsigned:0;\n"
    "\tfield:char rwbs[10];\toffset:12;\tsize:10;\tsigned:0;\n"
    "\tfield:__data_loc char[] cmd;\toffset:24;\tsize:4;\tsigned:0;\n"
    "\tfield:long ret;\toffset:32;\tsize:8;\tsigned:1;\n"
    "\tfield:__rel_loc char[] comm;\toffset:28;\tsize:4;\tsigned:0;\n"
    "\tfield:const char * file;\toffset:48;\tsize:8;\tsigned:0;\n"
    "\tfield:odd;\toffset:x;\n"
    "\tfield:u8 flag;\toffset:40;\tsize:1;\tsigned:0;\n\nprint fmt: \"%d\", REC->dev\n";

Test(fields, are_found_by_their_names)
{
    const struct weight_field ret = fields_find(format, "ret");
    cr_expect_eq(ret.at, 32);
    cr_expect_eq(ret.size, 8);
    cr_expect(ret.is_signed);
    const struct weight_field flag = fields_find(format, "flag");
    cr_expect_eq(flag.at, 40);
    cr_expect_eq(flag.size, 1);
    cr_expect_not(flag.is_signed);
    static const char *const none[] = {"rwbs", "common_type", "re",  "rett", "odd",
                                       "",     "long",        "cmd", "comm", "file"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        cr_expect_eq(fields_find(format, none[i]).size, 0, "%s", none[i]);
    cr_expect_eq(fields_find("\tfield:u64 a;\toffset:70000;\tsize:8;\tsigned:0;", "a").size, 0);
    cr_expect_eq(fields_find("\tfield:u64 a", "a").size, 0);
}

Test(fields, weigh_what_the_raw_data_has)
{
    const uint8_t raw[12] = {1, 2, 3, 4, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    static const struct {
        struct weight_field field;
        uint64_t weight;
    } cases[] = {{{0, 1, false}, 1}, {{0, 4, false}, 0x04030201}, {{4, 4, false}, 0xffffffff},
                 {{4, 4, true}, 0},  {{4, 8, false}, UINT64_MAX}, {{4, 8, true}, 0},
                 {{5, 8, false}, 0}, {{60000, 8, false}, 0},      {{11, 1, false}, 0xff},
                 {{12, 1, false}, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect_eq(weight_field_in(&cases[i].field, raw, sizeof raw), cases[i].weight, "case %zu", i);
}

Test(fields, are_kept_in_the_event)
{
    struct perf_event_attr attr = {.type = PERF_TYPE_TRACEPOINT};
    cr_expect_eq(weight_field_of(&attr).size, 0);
    weight_field_set(&attr, &(struct weight_field){65535, 8, true});
    const struct weight_field kept = weight_field_of(&attr);
    cr_expect_eq(kept.at, 65535);
    cr_expect_eq(kept.size, 8);
    cr_expect(kept.is_signed);
    attr.sample_type = 0;
    cr_expect_eq(weight_field_of(&attr).size, 0, "no raw data");
    attr.sample_type = PERF_SAMPLE_RAW;
    attr.config1 |= 1u << 16;
    cr_expect_eq(weight_field_of(&attr).size, 0, "no number has nine bytes");
    attr.config1 = 8 << 16;
    cr_expect_eq(weight_field_of(&attr).size, 0, "another's");
}
