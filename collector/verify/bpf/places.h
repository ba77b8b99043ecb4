/* places.h - where files are mapped in the sampled process (part of verify.bpf.c). Only known to the program
 * with VERIFY_FILES. */

#ifdef VERIFY_FILES
struct task_struct;
struct vm_area_struct;
/* Reads a member of one of the kernel's structs, at the offset that kernel_members.c found: the kernel's
 * verifier checks each read against its types. Pointers must be read whole; of a time's `tv_nsec` the lower 4
 * bytes are enough. */
#define MEMBER(type, from, at) (*(type const *)((const char *)(from) + config.members.at))
/* Since Linux 6.13, the next higher bit says that somebody asked for the time (I_CTIME_QUERIED,
 * include/linux/fs.h). */
#define NANOSECONDS 0x7fffffffu

/* Called with the mapping of an address. */
static long see_mapping(struct task_struct *task, struct vm_area_struct *vma, const __u32 *cpu)
{
    struct buffer *buffer = bpf_map_lookup_elem(&buffers, cpu);
    if (!buffer)
        return 0;
    struct seen *out = &buffer->lying.seen;
    const void *file = MEMBER(void *, vma, vma_file);
    const __u64 start = MEMBER(__u64, vma, vma_start), page = MEMBER(__u64, vma, vma_page);
    (void)task;
    out->start = start;
    out->size = MEMBER(__u64, vma, vma_end) - start;
    out->at = start - (page << 12);
    if (!file) {
        out->file.changed = page ? 0 : out->size; /* anonymous memory has its own address there */
        return 0;
    }
    const void *inode = MEMBER(void *, file, file_inode);
    out->file.inode = MEMBER(__u64, inode, inode_number);
    out->file.changed = MEMBER(__u64, inode, inode_changed_s) * 1000000000 +
                        (MEMBER(__u32, inode, inode_changed_ns) & NANOSECONDS);
    out->file.page = page;
    out->file.device = MEMBER(__u32, MEMBER(void *, inode, inode_super), super_device);
    out->file.generation = MEMBER(__u32, inode, inode_generation);
    return 0;
}

/* Looks an address up in the kernel's list of mappings and sets `seen`. Returns the number of its file; 0:
 * none, or it cannot be found out now. */
static __always_inline __u32 look(struct lying *l, __u32 cpu, __u64 address)
{
    l->looked = true;
    l->seen = (struct seen){0};
    bpf_find_vma((struct task_struct *)bpf_get_current_task_btf(), address, see_mapping, &cpu, 0);
    const __u32 *number =
        stack_file_is_told(&l->seen.file) ? bpf_map_lookup_elem(&files, &l->seen.file) : NULL;
    return number ? *number : 0;
}

/* Notes that this file is mapped where the list of mappings said. If it was elsewhere before, it was closed
 * and opened again: then all other places are out of date, and stacks that were read before are announced
 * with their places. */
__noinline int verify_add_place(__u32 cpu, __u32 file, __u32 guessed)
{
    struct buffer *buffer = bpf_map_lookup_elem(&buffers, &cpu);
    if (!buffer)
        return 0;
    struct lying *l = &buffer->lying;
    struct rule_process *to = &l->process;
    const struct rule_process *p = bpf_map_lookup_elem(&processes, &l->pid);
    if (!p || bpf_probe_read_kernel(to, sizeof *to, p) != 0)
        return 0;
    __u64 moved = 0;
    for (__u32 i = 0; i < RULE_PLACES && i < to->added; i++)
        if (file && to->places[i].file == file)
            moved |= to->places[i].at - l->seen.at;
    if (moved) {
        to->version = l->version = l->code.version = bpf_get_prandom_u32() | 1;
        to->added = 0;
    }
    to->places[to->added % RULE_PLACES] = (struct rule_place){
        .start = l->seen.start, .size = l->seen.size, .at = l->seen.at, .file = file, .guessed = guessed};
    to->added++;
    return bpf_map_update_elem(&processes, &l->pid, to, BPF_ANY) == 0;
}

/* The process's places, reset if its code changed since they were noted. */
static __always_inline const struct rule_process *find_process(struct lying *l)
{
    const void *task = bpf_get_current_task_btf();
    const void *mm = MEMBER(void *, task, task_mm);
    const struct rule_process *p = bpf_map_lookup_elem(&processes, &l->pid);
    if (!mm)
        return NULL;
    const __u64 code = MEMBER(__u64, mm, mm_code), exec = MEMBER(__u64, task, task_exec),
                born = MEMBER(__u64, MEMBER(void *, task, task_leader), task_born);
    l->start_stack = MEMBER(__u64, mm, mm_stack);
    if (p && p->code == code && p->exec == exec && p->born == born)
        return p;
    l->process.code = code;
    l->process.exec = exec;
    l->process.born = born;
    l->process.version = bpf_get_prandom_u32() | 1;
    l->process.added = 0;
    bpf_map_update_elem(&processes, &l->pid, &l->process, BPF_ANY);
    return bpf_map_lookup_elem(&processes, &l->pid);
}

/* The place that contains an address; NULL: none is known for certain. */
static __always_inline const struct rule_place *find_place(const struct rule_process *p, __u64 address)
{
    for (__u32 i = 0; i < RULE_PLACES && i < p->added; i++)
        if (address - p->places[i].start < p->places[i].size && !p->places[i].guessed)
            return &p->places[i];
    return NULL;
}

/* Returns the number of the PC's file; 0: none, or it has no number yet. Also sets what else is known about
 * it. */
__noinline __u32 verify_file(__u32 cpu, __u32 pid, __u64 ip)
{
    struct buffer *buffer = bpf_map_lookup_elem(&buffers, &cpu);
    if (!buffer)
        return 0;
    struct lying *l = &buffer->lying;
    l->pid = pid;
    l->looked = false;
    l->start_stack = l->caller_at = 0;
    l->code = (struct stack_code){0};
    const struct rule_process *p = find_process(l);
    if (!p)
        return 0;
    if (l->guessed || l->version != p->version || l->added != p->added)
        l->count = 0;
    l->guessed = false;
    l->version = l->code.version = p->version;
    l->added = p->added;
    const struct rule_place *place = find_place(p, ip);
    if (place) {
        l->code.at = place->at;
        return place->file;
    }
    const __u32 number = look(l, cpu, ip);
    l->code.file = l->seen.file;
    l->code.at = l->seen.at;
    if (number || (l->seen.size && !stack_file_is_told(&l->seen.file)))
        verify_add_place(cpu, number, false);
    return number;
}

/* The same for a return address: sets where its file is mapped. */
__noinline __u32 verify_caller(__u32 cpu, __u64 pc)
{
    struct buffer *buffer = bpf_map_lookup_elem(&buffers, &cpu);
    if (!buffer)
        return 0;
    struct lying *l = &buffer->lying;
    const struct rule_process *p = bpf_map_lookup_elem(&processes, &l->pid);
    l->caller_at = 0;
    if (!p)
        return 0;
    const struct rule_place *place = find_place(p, pc);
    if (place) {
        l->caller_at = place->at;
        return place->file;
    }
    if (l->looked)
        return 0;
    const __u32 number = look(l, cpu, pc);
    l->caller_at = l->seen.at;
    if (number)
        verify_add_place(cpu, number, false);
    return number;
}

#define FILE_PAGE 4096u

/* The address of a file's offset 0 if `word` is one of `size` offsets from `low` on in it; 0: unknown. */
static __always_inline __u64 guess_at(__u64 word, __u64 low, __u32 size)
{
    const __u64 first = word - low;
    return size <= FILE_PAGE && (first & (FILE_PAGE - 1)) < size ? first & ~(__u64)(FILE_PAGE - 1) : 0;
}

/* Address of a file's offset 0 in the sampled process, judging by this word, which would be one of `size` offsets from
 * `low` on in the file. 0: it is elsewhere, or unknown. */
__noinline __u64 verify_at(__u32 cpu, __u32 file, __u64 low, __u32 size, __u64 word)
{
    const __u64 guess = guess_at(word, low, size);
    struct buffer *buffer = bpf_map_lookup_elem(&buffers, &cpu);
    if (!buffer)
        return 0;
    struct lying *l = &buffer->lying;
    for (__u32 i = 0; i < STACK_PLACED_MAX && i < l->count; i++)
        if (l->files[i].file == file) {
            l->used |= 1u << i;
            return l->files[i].at;
        }
    const struct rule_process *p = bpf_map_lookup_elem(&processes, &l->pid);
    __u64 at = 0;
    __u32 guessed = 1;
    for (__u32 i = 0; p && i < RULE_PLACES && i < p->added; i++)
        if (p->places[i].file == file) {
            at = p->places[i].at;
            guessed = p->places[i].guessed;
        }
    if (p && guessed && find_place(p, word)) /* the word is in another file */
        return 0;
    /* A word that cannot be in a function of up to a page wherever the file is mapped is not worth the look. */
    if (p && !at && (guess || size > FILE_PAGE) && !l->looked) {
        const __u32 number = look(l, cpu, word);
        const bool fits = stack_file_is_told(&l->seen.file) && word - l->seen.at - low < size;
        if (number || fits)
            verify_add_place(cpu, number ? number : file, !number);
        if ((number && number != file) || !fits)
            return 0;
        at = l->seen.at;
    }
    if (!at) {
        at = guess;
        l->guessed = true;
    }
    const __u32 i = l->count;
    if (!at || i >= STACK_PLACED_MAX)
        return 0;
    l->files[i].at = at;
    l->files[i].file = file;
    l->used |= 1u << i;
    l->count = i + 1;
    return at;
}

/* Before another known stack is compared: drops the guesses made for the last one. */
static __always_inline void begin_stack(struct lying *l)
{
    l->used = 0;
    if (l->guessed)
        l->count = 0;
    l->guessed = false;
}

/* The base of a main thread's stack; 0: unknown. */
static __always_inline __u64 main_base(struct moment *m)
{
    return m->told_key.tid == m->pid ? buffer_of(m)->lying.start_stack : 0;
}
#else
static __always_inline __u32 verify_file(__u32 cpu, __u32 pid, __u64 ip)
{
    (void)cpu, (void)pid, (void)ip;
    return 0;
}

static __always_inline __u32 verify_caller(__u32 cpu, __u64 pc)
{
    (void)cpu, (void)pc;
    return 0;
}

static __always_inline __u64 verify_at(__u32 cpu, __u32 file, __u64 low, __u32 size, __u64 word)
{
    (void)cpu, (void)file, (void)low, (void)size, (void)word;
    return 0;
}

static __always_inline void begin_stack(struct lying *l)
{
    (void)l;
}

static __always_inline __u64 main_base(struct moment *m)
{
    (void)m;
    return 0;
}
#endif
