/* sure.c - the column that shows how certain a row is; see views.h. */
#include "report/views/views.h"

#define SURE_TO_SAY 0.9 /* if all rows have at least this, the column is shown only on request */

double branch_sure(const struct drawing *drawing, const struct branch *branch)
{
    const struct frame *frame = frames_at(drawing->frames, branch->item);
    if (!frame || frame->kind == FRAME_UNKNOWN_CONTEXT || branch->total == 0)
        return -1;
    return branch_certainty(branch);
}

bool branches_want_sure(const struct drawing *drawing, const struct branches *branches)
{
    for (uint32_t i = 1; i < branches->count; i++) {
        double sure = branches->at[i].shown ? branch_sure(drawing, &branches->at[i]) : 1;
        if (sure >= 0 && sure < SURE_TO_SAY)
            return true;
    }
    return false;
}

void sure_heading_write(const struct drawing *drawing)
{
    printer_write(drawing->printer, "%4s  ", "sure");
}

void sure_write(const struct drawing *drawing, double sure)
{
    /* Sums of doubts are not exact; tolerate a millionth. */
    unsigned percent = (unsigned)((sure < 0 ? 0 : sure) * 100 + 1e-4);
    if (sure < 0)
        printer_write(drawing->printer, "%4s  ", "");
    else if (percent == 0)
        printer_write(drawing->printer, "%4s  ", "<1%");
    else
        printer_write(drawing->printer, "%3u%%  ", percent);
}
