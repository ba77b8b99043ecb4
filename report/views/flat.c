/* flat.c - functions by self weight, without their contexts. */
#include <string.h>

#include "report/views/functions.h"
#include "report/views/views.h"

static void write_row(const struct drawing *drawing, const struct function_weight *f, int self_width,
                      int weight_columns, int image_width)
{
    struct printer *printer = drawing->printer;
    const struct frame *frame = frames_at(drawing->frames, f->item);
    const struct frame *owner = f->owner == FRAMES_NONE ? frame : frames_at(drawing->frames, f->owner);
    bool colour = drawing->options->colour;
    char self[SHARE_BOUND_SIZE] = "", total[SHARE_SIZE], weight[WEIGHT_SIZE];
    if (f->self > 0)
        share_bound_format(self, f->self, f->error, drawing->whole);
    printer_write(printer, "%s", row_colour(colour, f->self, drawing->whole));
    size_t began = printer->written;
    printer_write(printer, "%*s  %7s  %*s  %-*s  ", self_width, self,
                  share_format(total, f->total, drawing->whole), weight_columns,
                  weight_format(weight, f->self, drawing->unit), image_width, owner->image);
    const char *line = owner == frame ? "" : frame->name;
    frame_write(printer, owner, false, room_left(drawing, began - strlen(line)));
    printer_write(printer, "%s%s", *line ? " " : "", line);
    printer_write(printer, "%s\n", row_colour_end(colour, f->self, drawing->whole));
}

int flat_write(const struct drawing *drawing, struct fathom_error *err)
{
    const struct view_options *options = drawing->options;
    struct functions functions;
    int rc = functions_of(drawing->branches, drawing->frames, &functions, err);
    if (rc)
        return rc;

    uint32_t shown = 0;
    uint64_t hidden_weight = 0;
    int self_width = 7, image_width = (int)strlen("image");
    for (uint32_t i = 0; i < functions.count; i++) {
        const struct function_weight *f = &functions.at[i];
        if (!weighs_enough(drawing, f->total) || (options->max_rows > 0 && shown == options->max_rows)) {
            hidden_weight = add_saturating(hidden_weight, f->self);
            continue;
        }
        uint32_t owner = f->owner == FRAMES_NONE ? f->item : f->owner;
        int length = (int)strlen(frames_at(drawing->frames, owner)->image);
        image_width = length > image_width ? length : image_width;
        self_width = f->error > 0 ? SHARE_BOUND_WIDTH : self_width;
        functions.at[shown++] = *f;
    }
    int weight_columns = weight_width(shown > 0 ? functions.at[0].self : 0, drawing->unit);
    printer_write(drawing->printer, "%*s  %7s  %*s  %-*s  %s\n", self_width, "self", "total", weight_columns,
                  weight_title(drawing->unit), image_width, "image", "function");
    for (uint32_t i = 0; i < shown && !drawing->printer->failed; i++)
        write_row(drawing, &functions.at[i], self_width, weight_columns, image_width);
    left_out_write(drawing, functions.count - shown, "function", "functions", hidden_weight, LEFT_OUT_SELF);
    functions_clear(&functions);
    return 0;
}
