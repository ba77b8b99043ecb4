/*
 * images.c - see images.h.
 *
 * An image is identified by the address of its dynamic section, its bias and its path. Its record stays after
 * it is closed, with the plan and the trampolines: if it is opened again at the same place, as in programs
 * that repeatedly open and close a plug-in, it is patched again without a request, and takes no more memory.
 *
 * Plans are never requested for the vDSO (no file), the loader (it runs before and around everything that is
 * hooked), and this library. Whether libc is hooked is the trainer's decision.
 */
#include "pathmap/probe/images.h"

#include "pathmap/probe/core.h"
#include "pathmap/probe/elf_image.h"
#include "pathmap/probe/loader.h"
#include "pathmap/probe/mail_client.h"
#include "pathmap/probe/notes.h"
#include "base/raw.h"

struct record {
    struct record *next;
    uint64_t dynamic; /* address of its dynamic section */
    bool loaded;
    bool hooked;     /* patch exists, and is applied whenever the image is loaded */
    bool planned;    /* plan exists */
    uint32_t number; /* core_image()'s */
    uint32_t round;  /* of the last images_update() that saw it */
    struct elf_image elf;
    struct mail_answer answer;
    struct plan plan;
    struct patch patch;
    struct store_summary summary;
    char plan_path[4096];
};

#define HOLD_TRIES 4000000u /* some seconds */

static struct {
    const char *directory;
    struct mail *mail; /* NULL once it has not answered */
    struct record *records;
    uint32_t round;
    bool left;
    bool changes;  /* images_step() takes hooks out and puts them in */
    bool out;      /* hooks are out */
    bool held;     /* the lock is held while the loader changes its lists */
    uint32_t lock; /* for changes of hooks or of the list of images */
} state;           /* modified under the loader's lock, or before the program runs */

/* The lock is also held while the loader changes its lists: code may be unmapped. ------------------------- */

static bool try_lock(void)
{
    return !__atomic_exchange_n(&state.lock, 1, __ATOMIC_ACQUIRE);
}

/* Takes the lock, which is never held for longer than a tenth of a second or two (bursts.c). But a child made
 * without fork() may have inherited it from a thread that does not exist in the child. */
static void take_lock(void)
{
    for (unsigned i = 0; !state.held && i < HOLD_TRIES && !try_lock(); i++)
        raw_call(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
    state.held = true;
}

static void drop_lock(void)
{
    state.held = false;
    __atomic_store_n(&state.lock, 0, __ATOMIC_RELEASE);
}

/* Plans -------------------------------------------------------------------------------------------------- */

static bool plan_is_of(const struct plan *plan, const struct elf_image *elf)
{
    return plan->header->build_id_size == elf->build_id_size &&
           raw_equal(plan->header->build_id, elf->build_id, elf->build_id_size);
}

static const char *map_plan(struct record *r)
{
    size_t end = raw_append(r->plan_path, sizeof r->plan_path, 0, state.directory);
    end = raw_append(r->plan_path, sizeof r->plan_path, end, "/");
    raw_append(r->plan_path, sizeof r->plan_path, end, r->answer.plan);
    int fd = raw_open(r->plan_path, O_RDONLY | O_NOFOLLOW);
    if (fd < 0)
        return "its plan cannot be opened";
    long size = raw_call(SYS_lseek, fd, 0, 2 /* SEEK_END */, 0, 0, 0);
    long data = size > 0 ? raw_mmap(0, (size_t)size, PROT_READ, MAP_PRIVATE, fd) : -1;
    raw_close(fd);
    if (raw_failed(data))
        return "its plan cannot be mapped";
    const char *reason = NULL;
    if (plan_read((void *)data, (size_t)size, &r->plan, &reason)) {
        raw_munmap((void *)data, (size_t)size);
        return reason;
    }
    r->planned = true;
    return plan_is_of(&r->plan, &r->elf) ? NULL : "its file has changed since it was loaded";
}

/* Registers the image's functions with the core. Returns the id of the first. */
static uint32_t register_functions(const struct record *r)
{
    const struct plan *plan = &r->plan;
    uint32_t count = plan->header->hook_count;
    uint32_t first = count ? core_functions(r->number, count) : 0;
    for (uint32_t i = 0; first != UINT32_MAX && i < count; i++)
        core_function(first + i, r->number, plan->hooks[i].function, plan->hooks[i].size);
    if (first != UINT32_MAX)
        core_calls(r->number, plan);
    return first;
}

static void summarise_hooks(struct record *r, const char *reason)
{
    const struct plan *plan = r->planned ? &r->plan : NULL;
    struct store_summary *s = &r->summary;
    uint32_t kinds[PLAN_KINDS] = {0}, count = plan ? plan->header->hook_count : 0;
    for (uint32_t i = 0; i < count; i++)
        kinds[plan->hooks[i].kind]++;
    raw_fill(s, 0, sizeof *s);
    s->left_out = plan ? plan->header->left_out : 0;
    if (reason) {
        s->failed = count;
        raw_append(s->reason, sizeof s->reason, 0, reason);
    } else {
        s->sleds = kinds[PLAN_SLED];
        s->detours = kinds[PLAN_DETOUR];
        s->pads = kinds[PLAN_PAD];
        s->breakpoints = kinds[PLAN_BREAKPOINT];
    }
    core_summary(r->number, s);
}

/* Registers the root of a program (not of a library that could also be run): its entry point. */
static void register_root(const struct record *r)
{
    if (r == state.records && !r->next && r->plan.header->entry)
        core_main_root(r->number, r->plan.header->entry);
}

static void take_out(const struct patch *patch)
{
    patch_step(patch, PATCH_TAILS_OUT);
    patch_step(patch, PATCH_HEADS_OUT);
    patch_step(patch, PATCH_PADS_OUT);
}

/* Installs the hooks while the image's code does not run yet. */
static const char *apply_plan(struct record *r)
{
    const char *bad = patch_apply(&r->patch);
    if (!bad && state.out && patch_open(&r->patch, true)) {
        take_out(&r->patch);
        patch_open(&r->patch, false);
    }
    return bad;
}

static const char *hook_image(struct record *r)
{
    if (r->elf.relocated_code)
        return "its code has relocations";
    const char *bad = map_plan(r);
    if (bad)
        return bad;
    uint32_t first = register_functions(r);
    if (r->plan.header->hook_count == 0)
        return NULL;
    if (first == UINT32_MAX)
        return "there are too many functions, or there is no room for them";
    bad = patch_prepare(&r->patch, &r->plan, &r->elf.place, first, state.changes);
    if (!bad)
        bad = apply_plan(r);
    r->hooked = !bad;
    if (!bad)
        register_root(r);
    return bad;
}

/* Images ------------------------------------------------------------------------------------------------- */

static bool holds_address(const struct patch_target *place, uint64_t address)
{
    return address >= place->low && address < place->high;
}

static void add_to_core(struct record *r)
{
    r->number = core_image(r->elf.path, r->elf.build_id, r->elf.build_id_size, r->elf.place.bias,
                           r->elf.place.low, r->elf.place.high);
}

/* NULL, or the reason why there is no plan. */
static const char *ask_plan(struct record *r)
{
    r->answer.status = MAIL_FAILED;
    if (!state.mail)
        return "the trainer did not answer before";
    if (!mail_ask(state.mail, r->elf.path, &r->answer))
        state.mail = NULL;
    return r->answer.status == MAIL_PLAN || r->answer.status == MAIL_CALLS ? NULL : r->answer.reason;
}

static void open_new(struct record *r, const char *bad)
{
    if (!bad && (r->elf.path[0] != '/' || holds_address(&r->elf.place, (uint64_t)(uintptr_t)&images_update)))
        return;
    if (!bad && holds_address(&r->elf.place, _r_debug.r_brk)) {
        add_to_core(r); /* its frames can be between those of others */
        return;
    }
    if (!bad) {
        bad = ask_plan(r);
        if (r->answer.status == MAIL_LEAVE)
            return;
    }
    add_to_core(r);
    if (r->number == UINT32_MAX && r->answer.status != MAIL_CALLS)
        note(NOTE_ROOM, 0, r->elf.path);
    if (!bad)
        bad = hook_image(r);
    summarise_hooks(r, r->answer.status == MAIL_CALLS ? NULL : bad);
}

/* The record of a closed image that is now loaded again at the same place. */
static struct record *find_closed(const struct record *like)
{
    for (struct record *r = state.records; r; r = r->next)
        if (!r->loaded && r->dynamic == like->dynamic && r->elf.place.bias == like->elf.place.bias &&
            r->elf.place.low == like->elf.place.low && r->elf.place.high == like->elf.place.high &&
            r->elf.build_id_size && r->elf.build_id_size == like->elf.build_id_size &&
            raw_equal(r->elf.build_id, like->elf.build_id, like->elf.build_id_size) &&
            raw_same(r->elf.path, like->elf.path))
            return r;
    return NULL;
}

static void open_again(struct record *r)
{
    r->loaded = true;
    r->round = state.round;
    if (r->number != UINT32_MAX)
        add_to_core(r);
    if (r->planned && plan_is_of(&r->plan, &r->elf))
        register_functions(r);
    if (r->hooked)
        summarise_hooks(r, apply_plan(r));
}

static void open_image(uint64_t bias, uint64_t dynamic)
{
    struct record *r = raw_memory(sizeof *r);
    if (!r)
        return;
    r->number = UINT32_MAX;
    r->dynamic = dynamic;
    const char *bad = elf_image_read(&r->elf, bias, dynamic);
    struct record *closed = find_closed(r);
    if (closed) {
        raw_munmap(r, sizeof *r);
        open_again(closed);
        return;
    }
    r->loaded = true;
    r->round = state.round;
    r->next = state.records;
    state.records = r;
    open_new(r, bad);
}

static void close_image(struct record *r)
{
    r->loaded = false;
    if (r->hooked)
        patch_gone(&r->patch);
    if (r->number != UINT32_MAX)
        core_unload(r->number);
}

static struct record *find_loaded(uint64_t bias, uint64_t dynamic)
{
    for (struct record *r = state.records; r; r = r->next)
        if (r->loaded && r->dynamic == dynamic && r->elf.place.bias == bias)
            return r;
    return NULL;
}

static bool is_patched(const struct record *r)
{
    return r->loaded && r->hooked;
}

/* In two passes: unloaded images must be known before new ones are found at their place. */
static void update_images(const struct loader_space *space)
{
    state.round++;
    for (const struct loader_space *s = space; s; s = loader_next(s))
        for (const struct link_map *m = s->debug.r_map; m; m = m->l_next) {
            struct record *r = find_loaded(m->l_addr, (uint64_t)(uintptr_t)m->l_ld);
            if (r)
                r->round = state.round;
        }
    for (struct record *r = state.records; r; r = r->next)
        if (r->loaded && r->round != state.round)
            close_image(r);
    for (const struct loader_space *s = space; s; s = loader_next(s))
        for (const struct link_map *m = s->debug.r_map; m; m = m->l_next)
            if (!find_loaded(m->l_addr, (uint64_t)(uintptr_t)m->l_ld))
                open_image(m->l_addr, (uint64_t)(uintptr_t)m->l_ld);
}

void images_update(void)
{
    const struct loader_space *space = (const struct loader_space *)&_r_debug;
    take_lock();
    for (const struct loader_space *s = space; s; s = loader_next(s))
        if (s->debug.r_state != RT_CONSISTENT)
            return;
    if (!state.left)
        update_images(space);
    drop_lock();
}

void images_start(const char *directory, struct mail *mail)
{
    state.directory = directory;
    state.mail = mail;
    state.changes = recording_has_bursts(&mail->recording);
    images_update();
    const char *bad = loader_watch(images_update);
    if (!bad)
        return;
    /* Nothing else would report that images opened later are not hooked. */
    struct store_summary summary = {.reason = "images that are opened later are left out: "};
    size_t end = raw_length(summary.reason);
    raw_append(summary.reason, sizeof summary.reason, end, bad);
    uint64_t at = _r_debug.r_brk;
    core_summary(core_image("ld.so", NULL, 0, 0, at, at + 1), &summary);
}

bool images_begin(void)
{
    if (!try_lock())
        return false;
    bool open = !state.left;
    for (struct record *r = state.records; r && open; r = r->next)
        open = !is_patched(r) || patch_open(&r->patch, true);
    if (!open)
        images_end(state.out);
    return open;
}

void images_step(enum patch_step step)
{
    for (struct record *r = state.records; r; r = r->next)
        if (is_patched(r))
            patch_step(&r->patch, step);
}

void images_end(bool out)
{
    for (struct record *r = state.records; r; r = r->next)
        if (is_patched(r))
            patch_open(&r->patch, false);
    state.out = out;
    drop_lock();
}

bool images_inside(uint64_t pc)
{
    for (struct record *r = state.records; r; r = r->next)
        if (is_patched(r) && patch_is_inside(&r->patch, pc))
            return true;
    return false;
}

void images_fork_child(void)
{
    drop_lock();
    if (!images_begin())
        return;
    for (struct record *r = state.records; r; r = r->next)
        if (is_patched(r))
            take_out(&r->patch);
    images_end(true);
}

void images_leave(void)
{
    take_lock();
    state.left = true;
    for (struct record *r = state.records; r; r = r->next)
        if (r->loaded && r->hooked)
            patch_leave(&r->patch);
    drop_lock();
    loader_leave();
}
