/* self.c - see self.h. */
#include "tests/process/self.h"

#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/process/maps.h"

uint32_t self_tid(void)
{
    return (uint32_t)syscall(SYS_gettid);
}

static uint64_t self_start_stack(void)
{
    char text[2048];
    FILE *stat = fopen("/proc/self/stat", "r");
    if (!stat || !fgets(text, sizeof text, stat))
        abort();
    fclose(stat);
    char *at = strrchr(text, ')') + 1;
    for (int field = 3; field < 28; field++)
        at = strchr(at + 1, ' ');
    return strtoull(at, NULL, 10);
}

static int apply(void *processes, const struct record *record, struct fathom_error *err)
{
    return processes_apply(processes, record, err);
}

struct self self_open(void)
{
    struct self self = {.images = image_cache_new(NULL), .start_stack = self_start_stack()};
    self.processes = processes_new(self.images, NULL);
    maps_read((uint32_t)getpid(), apply, self.processes);
    self.process = process_find(self.processes, (uint32_t)getpid());
    if (!self.process)
        abort();
    return self;
}

void self_close(struct self *self)
{
    processes_free(self->processes);
    image_cache_free(self->images);
}

void self_set_stack(struct self *self)
{
    uint32_t pid = (uint32_t)getpid();
    if (process_set_stack(self->process, pid, self->start_stack - (8 << 20), self->start_stack, NULL) < 0)
        abort();
}

struct sample self_sample(uint64_t pc, uint64_t sp, uint64_t bp)
{
    return (struct sample){.pid = (uint32_t)getpid(),
                           .tid = self_tid(),
                           .ip = pc,
                           .mode = SAMPLE_MODE_USER,
                           .has_regs = true,
                           .reg_ip = pc,
                           .sp = sp,
                           .bp = bp,
                           .period = 1};
}

struct sample self_sample_of_context(const ucontext_t *context)
{
    const greg_t *r = context->uc_mcontext.gregs;
    return self_sample((uint64_t)r[REG_RIP], (uint64_t)r[REG_RSP], (uint64_t)r[REG_RBP]);
}

__attribute__((no_sanitize("address"))) void self_dump(struct sample *sample, void *dump, size_t capacity)
{
    const uint64_t end = maps_end((uint32_t)getpid(), sample->sp);
    size_t size = end ? end - sample->sp < capacity ? (size_t)(end - sample->sp) : capacity : 0;
    sample->stack = dump;
    sample->stack_size = (uint32_t)size;
    const void *from = (const void *)(uintptr_t)sample->sp;
    __asm__ volatile("rep movsb" : "+D"(dump), "+S"(from), "+c"(size) : : "memory");
}
