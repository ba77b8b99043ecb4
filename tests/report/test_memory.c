/* The view of accesses. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "profile/access.h"
#include "report/views/view.h"

static struct metrics metrics = {.count = 3};

/* An access by main > caller to data, which was found at a source. */
static void add(struct cct *tree, struct frames *frames, const char *caller, const char *data,
                enum access_source source, uint64_t weight, uint64_t latency)
{
    struct frame found = {.kind = FRAME_FOUND, .name = access_source_name(source), .address = source},
                 of = {.kind = FRAME_DATA, .name = data, .image = data[0] == '[' ? "" : "prog"};
    uint32_t items[] = {frames_named(frames, "main", "prog", 1), frames_named(frames, caller, "prog", 2),
                        frames_add(frames, &of), frames_add(frames, &found)};
    cct_add(tree, items, source == ACCESS_UNKNOWN ? 3 : 4, (uint64_t[]){weight, 1, latency});
}

static char *view(struct cct *tree, struct frames *frames, struct view_options options)
{
    struct contexts contexts = {.tree = tree, .frames = frames, .metrics = &metrics};
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    const struct view *v = view_table;
    while (!v->accesses)
        v++;
    options.view = v;
    cr_assert_eq(view_write(&contexts, &options, out, NULL), 0);
    fclose(out);
    return text;
}

Test(memory, data_and_paths_with_where_it_was_found)
{
    for (int i = 0; i < 3; i++)
        metrics.at[i] = &metric_table[i];
    struct cct *tree = cct_new(3);
    struct frames *frames = frames_new();
    add(tree, frames, "scan", "table", ACCESS_L1, 30, 4);
    add(tree, frames, "scan", "table", ACCESS_RAM, 30, 200);
    add(tree, frames, "find", "table", ACCESS_RAM, 20, 300);
    add(tree, frames, "find", "[heap]", ACCESS_UNKNOWN, 20, 0);
    char *text = view(tree, frames, (struct view_options){.show_image = true});
    cr_expect_str_eq(
        text, "  share   cycles       L1      RAM  unknown  data\n"
              "  80.0%      168    37.5%    62.5%           table (prog)\n"
              "  20.0%                              100.0%  [heap]\n"
              "\n"
              "  share   cycles       L1      RAM  unknown  data, and below it the path that accessed it\n"
              "  60.0%      102    50.0%    50.0%           table (prog)\n"
              "         scan < main (prog)\n"
              "  20.0%                              100.0%  [heap]\n"
              "         find < main (prog)\n"
              "  20.0%      300            100.0%           table (prog)\n"
              "         find < main (prog)\n");
    free(text);
    text = view(tree, frames, (struct view_options){.show_image = true, .width = 20, .max_rows = 1});
    cr_expect(strstr(text, "\n         scan\n         < main (prog)\n"), "%s", text);
    free(text);
    text = view(tree, frames, (struct view_options){.max_rows = 1});
    cr_expect(strstr(text, "... 1 more piece of data: 20.0% of the weight\n"), "%s", text);
    cr_expect(strstr(text, "... 2 more accesses: 40.0% of the weight\n"), "%s", text);
    free(text);
    frames_free(frames);
    cct_free(tree);
}
