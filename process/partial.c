/* partial.c - see partial.h. */
#include "process/partial.h"

#include <stdio.h>
#include <string.h>

#include "base/path.h"
#include "image/mapped_name.h"
#include "image/run_time.h"
#include "process/walked.h"

/* Includes the function's name, if it has one. */
static void run_time_text(const struct process *process, uint64_t pc, char text[PARTIAL_TEXT])
{
    struct place place;
    const struct image_function *f = process_place(process, pc - 1, &place) &&
                                             image_is_run_time(place.image) &&
                                             place.function != IMAGE_NO_FUNCTION
                                         ? image_function(place.image, place.function)
                                         : NULL;
    const bool named = f && f->address;
    snprintf(text, PARTIAL_TEXT, "%s%s%.200s", RUN_TIME_NAME, named ? " " : "", named ? f->name : "");
}

void partial_text(const struct process *process, const struct sample *sample,
                  const struct unwind_frame *frames, size_t count, enum unwind_end end,
                  char text[PARTIAL_TEXT])
{
    uint64_t pc;
    const struct mapping *mapping = NULL;
    if (end == UNWIND_CUT || end == UNWIND_LONG) {
        snprintf(text, PARTIAL_TEXT, "%s", PARTIAL_CUT);
        return;
    }
    if (end == UNWIND_SIGNAL) {
        snprintf(text, PARTIAL_TEXT, "%s", PARTIAL_SIGNAL);
        return;
    }
    if (end == UNWIND_SWITCHED) {
        snprintf(text, PARTIAL_TEXT, "%s", PARTIAL_SWITCHED);
        return;
    }
    if (end != UNWIND_BAD && walked_beyond(sample, frames, count, &pc))
        mapping = process_mapping(process, pc);
    if (!mapping || !mapping->path)
        snprintf(text, PARTIAL_TEXT, "[damaged stack]");
    else if (mapped_is_run_time(mapping->path))
        run_time_text(process, pc, text);
    else if (strcmp(mapping->path, "[uprobes]") == 0)
        snprintf(text, PARTIAL_TEXT, "%s", PARTIAL_UPROBE);
    else if (mapping->path[0] == '[')
        snprintf(text, PARTIAL_TEXT, "%.200s", mapping->path);
    else
        snprintf(text, PARTIAL_TEXT,
                 end == UNWIND_UNSUPPORTED  ? "[unsupported unwind rule: %.200s]"
                 : end == UNWIND_NO_MAPPING ? "[unreadable file: %.200s]"
                                            : "[no unwind table: %.200s]",
                 path_base(mapping->path));
}
