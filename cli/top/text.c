/* text.c - see text.h. */
#include "cli/top/text.h"

#include <errno.h>

#include "base/text.h"
#include "report/text/printer.h"

#define INDENT_MOST 40u /* levels */

const char top_heading[] = "  total    self    sure  function";

void top_row_format(char out[TOP_ROW], const struct row *row, uint64_t whole, enum rows_view view,
                    const struct frames *frames)
{
    char total[SHARE_SIZE], self[SHARE_SIZE] = "", sure[SHARE_SIZE];
    const struct frame *frame = frames_at(frames, row->item);
    unsigned level = row->level < INDENT_MOST ? row->level : INDENT_MOST;
    bool label = !frame->image || !*frame->image;
    const char *mark = row->folded ? "> " : row->marked ? "+ " : "";
    if (row->self && view != ROWS_CALLERS)
        share_format(self, row->self, whole);
    share_format(sure, (uint64_t)(row->sure * 1e6 + 0.5), 1000000);
    snprintf(out, TOP_ROW, "%7s %7s %7s  %*s%s%s%s%s%s", share_format(total, row->total, whole), self, sure,
             (int)(2 * (level - (level && row->marked))), "", mark, text_name(frame->name), label ? "" : " (",
             label ? "" : text_name(frame->image), label ? "" : ")");
}

const char *top_nothing(const struct top_state *state)
{
    return *state->filter ? "(no context has a function whose name contains the filter)" : "(no context yet)";
}

int top_text_write(const struct top_state *state, const struct rows *rows, const struct frames *frames,
                   size_t most, FILE *out, struct fathom_error *err)
{
    struct printer printer = {.out = out};
    for (unsigned i = 0; i < TOP_LINES; i++)
        printer_write(&printer, "%s\n", state->status[i]);
    printer_write(&printer, "%s\n", top_heading);
    for (size_t i = 0; i < rows->count && (!most || i < most); i++) {
        char text[TOP_ROW];
        top_row_format(text, &rows->at[i], rows->whole, state->view, frames);
        printer_write(&printer, "%s\n", text);
    }
    if (!rows->count)
        printer_write(&printer, "%s\n", top_nothing(state));
    printer_write(&printer, "\n");
    return printer_finish(&printer, err);
}
