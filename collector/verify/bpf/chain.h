/* chain.h - the chain of functions that an interpreter runs, read one by one (part of verify.bpf.c). */

/* Number of frames and functions handled in one function call. The kernel's verifier follows each iteration
 * of a loop, on each path to it, and takes a microsecond per instruction. */
#define SCRIPT_FRAMES      8u
#define SCRIPT_STEPS       16u /* times as many frames */
#define SCRIPT_FUNCTIONS   32u
#define SCRIPT_FRAMES_MOST (2 * SCRIPT_CALLED_MAX) /* maximum frames looked at */

/* The beginning of a record. */
static __always_inline void fill_script(const struct script_buffer *b, struct script_record *r, __u8 kind,
                                        __u64 number)
{
    r->magic = SCRIPT_RECORD_MAGIC;
    r->version = SCRIPT_RECORD_VERSION;
    r->kind = kind;
    r->language = b->language;
    r->number = number;
}

static __always_inline __u64 window_word(const struct script_buffer *b, __u64 at)
{
    __asm__ volatile("" : "+r"(at));
    return word_at(b->window + (at & (SCRIPT_WINDOW - 1)));
}

/* Reads a frame, and what precedes it in its page: usually callers' frames. The previous page may be
 * unmapped. */
static __always_inline bool read_frame(struct script_buffer *b, __u64 frame)
{
    const __u64 end = frame + SCRIPT_FRAME_BYTES, in_page = frame & (PAGE - 1);
    __u64 size = in_page + SCRIPT_FRAME_BYTES;
    size = size < SCRIPT_WINDOW ? size : SCRIPT_WINDOW - 8;
    b->window_at = end - size;
    b->window_size = size;
    __asm__ volatile("" : "+r"(size));
    return bpf_probe_read_user(b->window, size & (SCRIPT_WINDOW - 1), (const void *)b->window_at) == 0;
}

/* Finds the next frame in the window, or reads it. false: the chain ends here. */
static __always_inline bool next_frame(struct script_buffer *b, __u64 *at)
{
    const __u64 frame = b->next;
    if (!frame)
        return false;
    if (b->chain_record.head.count >= SCRIPT_CALLED_MAX) {
        b->chain_record.head.flags = SCRIPT_CUT;
        return false;
    }
    *at = frame - b->window_at;
    if (*at < SCRIPT_WINDOW && *at + SCRIPT_FRAME_BYTES <= b->window_size)
        return true;
    if (!read_frame(b, frame)) {
        b->failed = 1;
        b->chain_record.head.flags = SCRIPT_CUT;
        return false;
    }
    *at = frame - b->window_at;
    return true;
}

/* Adds a function. Returns its index in the chain. */
static __always_inline __u32 add_called(struct script_buffer *b, __u64 code, __u32 at, __u32 marks)
{
    const __u32 count = b->chain_record.head.count, number = count & (SCRIPT_CALLED_MAX - 1);
    b->chain_record.called[number] = (struct script_called){code, at, marks};
    b->chain = rule_hash(b->chain, code + marks);
    if (count)
        b->chain = rule_hash(b->chain, at);
    else
        b->chain_record.head.at = at;
    b->chain_record.head.count = count + 1;
    return number;
}

/* Adds a text's bytes, at most its first 64, to a hash. 0: they cannot be read. */
static __always_inline __u64 hash_text(struct script_buffer *b, __u64 hash, __u64 at, __u64 bytes)
{
    __u64 size = bytes < TEXT_HASHED ? bytes : TEXT_HASHED;
    __builtin_memset(b->text, 0, TEXT_HASHED);
    __asm__ volatile("" : "+r"(size));
    size &= sizeof b->text - 1;
    if (size && bpf_probe_read_user(b->text, size, (const void *)at) != 0)
        return 0;
    for (__u32 i = 0; i < TEXT_HASHED / 8; i++)
        hash = rule_hash(hash, b->text[i]);
    return hash;
}
