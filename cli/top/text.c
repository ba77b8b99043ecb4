#include "cli/top/text.h"

#include <errno.h>

#include "base/share.h"
#include "base/text.h"

#define INDENT_MOST 40u /* levels */

const char top_heading[] = "  total    self    sure  function";

void top_row_format(char out[TOP_ROW], const struct fathom_top_row *row, uint64_t whole,
                    enum fathom_top_view view)
{
    char total[SHARE_SIZE], self[SHARE_SIZE] = "", sure[SHARE_SIZE];
    unsigned level = row->level < INDENT_MOST ? row->level : INDENT_MOST;
    bool label = !*row->image;
    const char *mark = row->folded ? "> " : row->marked ? "+ " : "";
    if (row->self && view != FATHOM_TOP_CALLERS)
        share_format(self, row->self, whole);
    share_format(sure, (uint64_t)(row->sure * 1e6 + 0.5), 1000000);
    snprintf(out, TOP_ROW, "%7s %7s %7s  %*s%s%s%s%s%s", share_format(total, row->total, whole), self, sure,
             (int)(2 * (level - (level && row->marked))), "", mark, text_name(row->function),
             label ? "" : " (", label ? "" : text_name(row->image), label ? "" : ")");
}

const char *top_nothing(const struct top_state *state)
{
    return *state->filter ? "(no context has a function whose name contains the filter)" : "(no context yet)";
}

int top_text_write(const struct top_state *state, const struct fathom_top_rows *rows, size_t most, FILE *out,
                   struct fathom_error *err)
{
    for (unsigned i = 0; i < TOP_LINES; i++)
        fprintf(out, "%s\n", state->status[i]);
    fprintf(out, "%s\n", top_heading);
    for (size_t i = 0; i < rows->count && (!most || i < most); i++) {
        char text[TOP_ROW];
        top_row_format(text, &rows->at[i], rows->whole, state->show.view);
        fprintf(out, "%s\n", text);
    }
    if (!rows->count)
        fprintf(out, "%s\n", top_nothing(state));
    fprintf(out, "\n");
    errno = 0;
    if (fflush(out) == 0 && !ferror(out))
        return 0;
    return error_system(err, errno ? errno : EIO, "cannot write the report");
}
