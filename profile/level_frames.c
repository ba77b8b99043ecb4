/*
 * level_frames.c - see level_frames.h. Levels with the same text share a frame only if they are the same level at the same
 * depth: views fold equal consecutive frames.
 */
#include "profile/level_frames.h"

#include <errno.h>
#include <stdio.h>

#include "perfdata/wait_reason.h"
#include "process/programs.h"
#include "profile/cgroup_names.h"

_Static_assert(LEVEL_FRAMES >= PROGRAMS_DEEPEST, "a chain of programs fits");

static uint32_t add(struct frames *frames, enum level level, uint32_t depth, const char *text)
{
    const struct frame frame = {FRAME_LEVEL, text, "", level | (uint64_t)depth << 8, NULL, 0};
    return frames_add(frames, &frame);
}

static const char *text_or(const char *text, const char *otherwise)
{
    return text && *text ? text : otherwise;
}

#define NO_NAME "[unknown]"

/* The kernel's idle task is not a process: no record describes it (kernel/sched/idle.c). */
static const char *default_name(const struct sample *sample)
{
    return sample->pid ? NO_NAME : "[idle]";
}

/* The text for the whole cgroup, or for what its path says. */
static const char *cgroup_text(enum level level, const char *path, char buffer[CGROUP_NAME_SIZE])
{
    if (!path)
        return "[unknown cgroup]";
    if (level == LEVEL_CONTAINER)
        return cgroup_container(path, buffer) ? buffer : "[no container]";
    if (level == LEVEL_SERVICE)
        return cgroup_service(path, buffer) ? buffer : "[no service]";
    return text_or(path, "/");
}

static const char *key_text(enum level level, const struct process *process, const struct sample *sample,
                            char buffer[CGROUP_NAME_SIZE])
{
    if (level_needs_cgroup(level))
        return cgroup_text(level, process ? process_cgroup(process, sample) : NULL, buffer);
    if (level == LEVEL_EXE)
        return text_or(process ? process_file(process) : NULL, default_name(sample));
    if (level == LEVEL_STATE)
        return sample->wait ? wait_reason_label(sample->wait) : "[running]";
    const bool of_process = level == LEVEL_PID;
    const char *comm = !process     ? NULL
                       : of_process ? process_name(process)
                                    : process_thread_name(process, sample->tid);
    comm = text_or(comm, default_name(sample));
    if (level == LEVEL_COMM)
        return comm;
    snprintf(buffer, CGROUP_NAME_SIZE, "%s/%u", comm, of_process ? sample->pid : sample->tid);
    return buffer;
}

static int program_frames(struct frames *frames, const struct process *process, const struct sample *sample,
                          uint32_t items[LEVEL_FRAMES])
{
    const char *chain[LEVEL_FRAMES];
    uint32_t count = 0, program = process ? process_program(process) : PROGRAMS_NONE;
    if (program == PROGRAMS_FAILED)
        return -ENOMEM;
    for (uint32_t parent; program != PROGRAMS_NONE; program = parent)
        chain[count++] = text_or(process_program_name(process, program, &parent), NO_NAME);
    if (!count)
        chain[count++] = default_name(sample);
    for (uint32_t i = 0; i < count; i++)
        if ((items[i] = add(frames, LEVEL_PROGRAMS, i, chain[count - 1 - i])) == FRAMES_NONE)
            return -ENOMEM;
    return (int)count;
}

int level_frames(enum level level, struct frames *frames, const struct process *process,
                 const struct sample *sample, uint32_t items[LEVEL_FRAMES])
{
    if (level == LEVEL_PROGRAMS)
        return program_frames(frames, process, sample, items);
    char buffer[CGROUP_NAME_SIZE];
    items[0] = add(frames, level, 0, key_text(level, process, sample, buffer));
    return items[0] == FRAMES_NONE ? -ENOMEM : 1;
}
