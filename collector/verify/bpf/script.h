/* script.h - announces what an interpreter runs in the sampled thread (part of verify.bpf.c):
 * script_record.h. */

/* The number of the chain that was read: a hash of the addresses of its code, and of what that code is. */
static __always_inline __u64 number_chain(const struct moment *m, __u32 cpu, struct script_buffer *b,
                                          struct rule_script *p, struct rule_script_thread *thread)
{
    const __u64 places = b->chain, last = thread->places == places ? thread->number : 0;
    const __u64 *found = last ? &last : bpf_map_lookup_elem(&chains, &places);
    const __u64 before = found ? *found : 0;
    thread->places = places;
    thread->unchecked++;
    if (p->careful)
        p->careful--;
    else if (before && thread->unchecked < SCRIPT_CHECKED)
        return before;
    thread->unchecked = 0;
    b->named = places;
    for (__u32 i = 0; i < SCRIPT_CALLED_MAX / SCRIPT_FUNCTIONS; i++)
        if (!verify_script_names(cpu, m->pid, i * SCRIPT_FUNCTIONS))
            break;
    const __u64 now = b->named | 1;
    if (before && before != now)
        p->careful = SCRIPT_CAREFUL;
    if (before != now)
        bpf_map_update_elem(&chains, &places, &now, BPF_ANY);
    return now;
}

/* Adds the functions of the Python thread state that was read to the chain. */
static __always_inline void read_python_frames(const struct moment *m, __u32 cpu, struct script_buffer *b,
                                               const struct rule_script *p)
{
    const __u64 cframe = state_word(b, p->layout.python.thread_frame);
    __u64 frame = cframe;
    b->failed |= p->layout.python.cframe_frame != PYTHON_NONE && cframe &&
                 !user_word(cframe + p->layout.python.cframe_frame, &frame);
    b->next = frame;
    add_frames(cpu, m->pid);
}

/* A thread without an interpreter state is searched for in one of so many of its samples. */
#define SCRIPT_SEARCHED 16u

static __always_inline void read_python(const struct moment *m, __u32 cpu, struct script_buffer *b,
                                        const struct rule_script *p, struct rule_script_thread *thread)
{
    thread->state = verify_python_state(cpu, m->pid, thread->state, thread->missed % SCRIPT_SEARCHED == 0);
    thread->missed = thread->state ? 0 : thread->missed + 1;
    if (!thread->state)
        return;
    read_python_frames(m, cpu, b, p);
    if (verify_python_outer(cpu, m->pid))
        read_python_frames(m, cpu, b, p);
}

static __always_inline void read_php(const struct moment *m, __u32 cpu, struct script_buffer *b,
                                     const struct rule_script *p, struct rule_script_thread *thread)
{
    thread->state = m->told_key.tid == m->pid ? p->state : 0;
    if (!thread->state)
        return;
    begin_php(m, b, p);
    add_frames(cpu, m->pid);
    tell_php_line(b, p);
}

/* Reads the thread's functions. The innermost one's place is announced with each sample. */
static __always_inline void read_ruby(const struct moment *m, __u32 cpu, struct script_buffer *b,
                                      const struct rule_script *rule, struct rule_script_thread *thread)
{
    struct script_record *head = &b->chain_record.head;
    __u64 first;
    thread->state = verify_ruby_state(cpu, m->pid);
    if (!thread->state)
        return;
    add_frames(cpu, m->pid);
    head->flags = b->next < b->end ? SCRIPT_CUT : 0;
    if (head->count)
        head->at = ruby_instructions(&rule->layout.ruby, b->chain_record.called[0].code, &first)
                       ? ruby_place(head->at, first)
                       : 0;
}

static __always_inline void read_v8(const struct moment *m, __u32 cpu, struct script_buffer *b,
                                    const struct rule_script *p, struct rule_script_thread *thread)
{
    thread->state = isolate_of(p);
    if (!thread->state)
        return;
    b->script = *p;
    b->process = m->pid;
    begin_v8(m, b, thread->state);
    add_frames(cpu, m->pid);
    if (b->next)
        b->chain_record.head.flags = SCRIPT_CUT;
}

/* Reads the thread's chain. Returns its number; 0: none. */
static __always_inline __u64 read_chain(const struct moment *m, __u32 cpu, struct script_buffer *b,
                                        struct rule_script_thread *thread)
{
    const __u32 pid = m->pid;
    struct rule_script *p = bpf_map_lookup_elem(&scripts, &pid);
    struct script_record *head = &b->chain_record.head;
    head->count = head->at = head->flags = 0;
    b->failed = 0;
    b->next = 0;
    b->window_size = 0;
    b->chain = pid;
    if (!p)
        return 0;
    b->language = p->layout.language;
    switch (b->language) {
    case SCRIPT_PHP:
        read_php(m, cpu, b, p, thread);
        break;
    case SCRIPT_RUBY:
        read_ruby(m, cpu, b, p, thread);
        break;
    case SCRIPT_JAVASCRIPT:
        read_v8(m, cpu, b, p, thread);
        break;
    default:
        read_python(m, cpu, b, p, thread);
    }
    b->chain &= ~1ull; /* numbers are odd */
    return head->count ? number_chain(m, cpu, b, p, thread) : 0;
}

/* Writes records of the code of the chain's functions that was not announced yet. Returns whether all of it
 * is announced now. */
static __always_inline bool tell_codes(void *ctx, struct moment *m, __u32 cpu, struct script_buffer *b)
{
    b->counted = 0;
    for (__u32 i = 0, from = 0; i < SCRIPT_CODES_MOST && b->counted < SCRIPT_COUNTED_MOST; i++) {
        from = verify_script_code(cpu, m->pid, from);
        if (!from)
            return true;
        const __u32 size = b->code_size;
        if (!b->key.code)
            continue;
        if (!size || size > sizeof b->code || put_record(ctx, BPF_F_CURRENT_CPU, &b->code, size) != 0)
            return false;
        verify_code_announced(cpu);
    }
    return false;
}

/* Announces a chain that differs from the thread's last one, or is at another instruction. 0, or an error. */
static __always_inline long announce_chain(void *ctx, struct moment *m, __u32 cpu, struct script_buffer *b,
                                           struct rule_script_thread *thread)
{
    struct script_record *head = &b->chain_record.head;
    const __u64 number = thread->number;
    __u32 size = sizeof *head;
    bool whole = false;
    if (!number) {
        fill_script(b, head, b->failed ? SCRIPT_UNREAD : SCRIPT_NONE, 0);
    } else if (bpf_map_lookup_elem(&chains, &number)) {
        fill_script(b, head, SCRIPT_SAME, number);
    } else {
        const __u32 count = head->count;
        size += (count <= SCRIPT_CALLED_MAX ? count : 0) * sizeof(struct script_called);
        if (!has_room(cpu, size)) {
            fill_script(b, head, SCRIPT_UNREAD, 0);
            size = sizeof *head;
        } else {
            whole = tell_codes(ctx, m, cpu, b);
            for (__u32 i = 0; i < SCRIPT_CALLED_MAX / SCRIPT_FUNCTIONS; i++)
                if (!verify_script_places(cpu, m->pid, i * SCRIPT_FUNCTIONS))
                    break;
            fill_script(b, head, SCRIPT_CHAIN, number);
            take_capacity(cpu, size);
        }
    }
    thread->told = head->kind;
    if (head->kind != SCRIPT_CHAIN)
        head->count = 0;
    if (size > sizeof b->chain_record)
        return -1;
    const long rc = put_record(ctx, BPF_F_CURRENT_CPU, &b->chain_record, size);
    const __u64 yes = 1;
    if (rc == 0 && whole)
        bpf_map_update_elem(&chains, &number, &yes, BPF_ANY);
    return rc;
}

/* Whether the process has an interpreter: one set for it, or one of its PC's file if the recorder does not
 * know the process yet. */
static __always_inline bool has_script(struct moment *m, struct script_buffer *b)
{
    const __u32 pid = m->pid, file = m->file;
    const struct lying *l = &buffer_of(m)->lying;
    const struct rule_script *here = bpf_map_lookup_elem(&scripts, &pid);
    const struct rule_script *told_file =
        file && !l->guessed ? bpf_map_lookup_elem(&script_files, &file) : NULL;
    if (!told_file || (here && here->state == l->code.at + told_file->state))
        return here;
    b->script = *told_file;
    b->script.state = l->code.at + told_file->state;
    return bpf_map_update_elem(&scripts, &pid, &b->script, BPF_ANY) == 0;
}

/* Reads what the thread's interpreter runs. NULL: the last announcement is still valid, or it has no
 * interpreter. */
static __noinline struct script_buffer *read_script(struct moment *m, __u32 cpu)
{
    const __u32 tid = m->told_key.tid, none = 0;
    const __u32 *any = bpf_map_lookup_elem(&any_script, &none);
    struct script_buffer *b = any && *any ? bpf_map_lookup_elem(&script_buffers, &cpu) : NULL;
    if (!b || !has_script(m, b))
        return NULL;
    struct rule_script_thread *before = bpf_map_lookup_elem(&script_threads, &tid);
    struct rule_script_thread *now = &b->thread;
    const struct rule_script_thread *last = &b->last;
    *now = (struct rule_script_thread){.birth = m->birth};
    if (before && before->birth == m->birth)
        *now = *before;
    b->last = *now;
    now->number = read_chain(m, cpu, b, now);
    now->at = b->chain_record.head.at;
    b->quiet = now->number ? last->told && last->number == now->number && last->at == now->at
               : b->failed ? last->told == SCRIPT_UNREAD
                           : !last->told || last->told == SCRIPT_NONE;
    if (b->quiet && before && last->state == now->state && (last->told || !now->state)) {
        before->unchecked = now->unchecked;
        before->missed = now->missed;
        return NULL;
    }
    return b;
}

/* Notes what was read, and announces it unless the last announcement is the same. false: it could not, so the
 * sample must be dropped: it would be taken for one of the last announcement. */
static __noinline bool tell_script(void *ctx, struct moment *m, __u32 cpu, struct script_buffer *b)
{
    const __u32 tid = m->told_key.tid;
    const long rc = b->quiet ? 0 : announce_chain(ctx, m, cpu, b, &b->thread);
    if (rc != 0) {
        b->thread.told = 0;
        b->thread.number = 0;
    }
    bpf_map_update_elem(&script_threads, &tid, &b->thread, BPF_ANY);
    if (rc != 0 && !is_off(rc))
        __sync_fetch_and_add(&counts.lost, 1);
    return rc == 0;
}
