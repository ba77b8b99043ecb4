/* data.h - the maps of the BPF program, and the working memory for one sample (part of verify.bpf.c). */

/* The program's maps. */
#define MAP(name, kind, flags, most, key_type, value_type)                                                   \
    struct {                                                                                                 \
        __uint(type, BPF_MAP_TYPE_##kind);                                                                   \
        __uint(map_flags, flags);                                                                            \
        __uint(max_entries, most);                                                                           \
        __type(key, key_type);                                                                               \
        __type(value, value_type);                                                                           \
    } name SEC(".maps")
/* Its elements are allocated when they are added (but see allocate_at_first() of verify.c). */
#define HASH_MAP(name, most, key_type, value_type)                                                           \
    MAP(name, HASH, BPF_F_NO_PREALLOC, most, key_type, value_type)

/* By CPU; then again by CPU those that wake the recorder. Their number is set when the program is loaded. */
struct {
    __uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
    __uint(key_size, 4);
    __uint(value_size, 4);
} outputs SEC(".maps");

HASH_MAP(followed, VERIFY_FOLLOWED, __u32, __u32);

/* By process: the space of its known stacks. */
HASH_MAP(spaces, VERIFY_PLACED, __u32, __u32);

/* With everyone recorded, the machine may have more threads, and some ends are lost: the least recently used
 * entries are removed. */
MAP(threads, LRU_HASH, 0, VERIFY_THREADS, __u32, struct rule_thread);
HASH_MAP(known, VERIFY_KEYS, struct rule_key, struct rule_known);
MAP(words, ARRAY, BPF_F_MMAPABLE, VERIFY_BLOCKS, __u32, struct rule_words);
HASH_MAP(switches, VERIFY_SWITCHES, __u32, struct rule_switch);
MAP(told, LRU_HASH, 0, VERIFY_TOLD, struct rule_told_key, struct rule_told);
MAP(shares, LRU_HASH, 0, VERIFY_SHARES, __u32, struct rule_share);
MAP(waits, LRU_HASH, 0, VERIFY_THREADS, __u32, struct rule_wait);

/* Whether the next two maps have any process: checked in each sample, which costs almost nothing in an
 * array. */
MAP(any_script, ARRAY, 0, 1, __u32, __u32);
HASH_MAP(scripts, VERIFY_SCRIPTS, __u32, struct rule_script);

/* By number of a file with its code: as above, but `state` counts from the address of the file's offset 0. */
HASH_MAP(script_files, VERIFY_SCRIPTS, __u32, struct rule_script);
MAP(script_threads, LRU_HASH, 0, VERIFY_SCRIPT_THREADS, __u32, struct rule_script_thread);

/* By number: the chains that were announced, with value 1. By a hash of the addresses of a chain's code: the
 * number that it had last. */
MAP(chains, LRU_HASH, 0, VERIFY_CHAINS, __u64, __u64);
MAP(codes, LRU_HASH, 0, VERIFY_CODES, struct rule_code_key, struct rule_code);

#ifdef VERIFY_FILES
/* By process: where files are mapped, as far as known. */
HASH_MAP(processes, VERIFY_PLACED, __u32, struct rule_process);

/* The numbers of files, from the recorder. */
HASH_MAP(files, VERIFY_FILES_MAX, struct stack_file, __u32);
HASH_MAP(rows, VERIFY_ROWS, struct code_rows_key, struct code_rows);
#endif

/* An address in the kernel's list of mappings. */
struct seen {
    struct stack_file file; /* inode 0: none */
    __u64 start, size;      /* of the mapping; 0: there is none */
    __u64 at;               /* address of the file's offset 0 */
};

/* Where the code is mapped that a sample's stack is compared with. */
struct lying {
    struct stack_code code; /* of the PC */
    struct seen seen;
    __u64 start_stack;
    __u32 pid;
    bool looked; /* the list of mappings was searched, which can be done once per interrupt */
    bool guessed;
    __u64 caller_at;      /* as code.at, for the last caller's code found; 0: none */
    __u32 version, added; /* of the process of `files` */
    __u32 count, used;    /* of `files`; bits of those that the last known stack uses */
    struct {
        __u64 at;
        __u32 file, zero;
    } files[STACK_PLACED_MAX];
    struct rule_process process; /* to be put into the map */
};

/* A known stack, copied at once as the entry may be replaced meanwhile. */
struct found {
    __u32 number, alias, version;
};

/* What known stacks are compared with: a sample's stack, or its caller's. */
struct trial {
    struct rule_key key; /* where they are */
    __u64 ip, sp, bp, base, depth, late_sp;
    __u64 at;     /* address of offset 0 of the file with its code */
    __u32 file;   /* number of that file; 0: unknown */
    __u32 around; /* index of the first block of the known stack that fits a caller's; 0: none does */
    __u32 extent; /* number of bytes compared with the key's stacks */
    __u32 read;   /* bytes read, for all keys of this sample */
    __u32 split;  /* as in struct moment */
    bool asked;   /* it was already checked, and does not continue on another stack */
    bool callers; /* only its SP and BP are known, not its other registers nor what was below SP */
    struct found found;
};

/* The record of a known stack that was read elsewhere. */
struct placed_record {
    struct stack_record head;
    struct stack_part part;
    struct stack_placed placed;
    __u64 at[STACK_PLACED_MAX];
};

/* Follows the bytes of a stack that is new up to a known one. */
#define WORDS_MAX 512u /* at least RULE_WORDS * RULE_BLOCKS_MAX */
struct words_part {
    struct stack_part part;
    struct stack_words known;
    struct stack_word_at words[WORDS_MAX];
};

/* One sample. In the CPU's buffer, as a BPF program's stack is small. */
struct moment {
    struct rule_told_key told_key;
    __u64 base, ip, sp, bp, depth;
    __u64 late_sp; /* precise: SP when the stack could be read, some instructions later; else sp */
    __u64 birth;   /* of the thread */
    __u32 count;   /* as in rule_told */
    bool apart;    /* the base of its stack is unknown */
    __u32 pid;
    bool deep; /* its stack is larger than a record, which then has an outer_part */
    /* Bytes of the stack up to a known one, whose words are in the buffer's `joint`; 0: none is known. */
    __u32 joint;
    __u32 space;
    __u32 inner; /* bytes of the stack in the record's first part */
    /* Bytes of the system stack, after which it continues on another one; 0: it does not, or that was not
     * checked. */
    __u32 split;
    __u64 now;                                    /* CLOCK_MONOTONIC, ns: only if its stack was not known */
    __u32 file;                                   /* number of the PC's file; 0: none, or unknown */
    __u64 compared_depth;                         /* depth of the known stack that was found */
    __u64 registers[STACK_RECORD_REGISTER_COUNT]; /* the user's, of the current sample */
};

struct buffer {
    struct moment moment;
    struct stack_record_read record;
    __u8 stack[RULE_BUFFER + 8];
    __u8 below[STACK_RECORD_BELOW + 8]; /* the red zone, for comparison */
    __u8 outer[STACK_RECORD_OUTER + 8]; /* the outermost bytes, for comparison */
    struct {
        __u64 sp, pc; /* where the stack continues after the system stack */
        __u64 size;   /* bytes of it that fit into a record */
    } other;
    struct lying lying;
    struct placed_record placed;
    struct trial trial;
    __u64 depth_and_reach, block_file, block_file_at; /* of the block that is compared: verify_block() */
    struct words_part joint;
    struct rule_told announced; /* to be stored in maps */
    struct rule_share share;
    union {
        struct wait_record wait;
        struct waker_record waker;
    } told; /* to be written */
};

static __always_inline struct buffer *buffer_of(struct moment *m)
{
    return (struct buffer *)m;
}
_Static_assert(offsetof(struct buffer, moment) == 0, "a moment is where its buffer is");

/* By CPU, but as an array: values of a per-CPU map are limited to 32 KiB. The size is set when the program is
 * loaded. */
MAP(buffers, ARRAY, 0, 1, __u32, struct buffer);
MAP(numbers, PERCPU_ARRAY, 0, 1, __u32, __u32);

/* By CPU: bytes of stacks that may still be written before the recorder empties the ring. The rest of it is
 * for samples, and for task records, without which many samples are useless. */
MAP(rooms, ARRAY, BPF_F_MMAPABLE, 1, __u32, __s64);

/* Buffer for reading what a thread's interpreter runs. By CPU; their number is set when the program is
 * loaded. */
#define SCRIPT_OBJECT_BYTES 256u
#define TEXT_HASHED         64u   /* maximum bytes of a name that distinguish it from others */
#define SCRIPT_FRAME_BYTES  80u   /* bytes read of a frame */
#define SCRIPT_WINDOW       4096u /* bytes that usually hold several frames */
#define SCRIPT_SEEN         256u
/* Bytes of source in which lines are counted for one chain; may be exceeded by those of one function. */
#define SCRIPT_COUNTED_MOST 262144u
struct script_buffer {
    struct rule_script script;        /* to be stored in the map; V8: that of the process */
    struct rule_script_thread thread; /* to be stored: that of the sampled thread */
    struct rule_script_thread last;   /* its previous value */
    __u64 next;      /* address of the frame to read; 0: none; Python: of the state, before that */
    __u64 window_at; /* address of the bytes in `window` */
    __u64 state[PYTHON_THREAD_BYTES / 8];  /* of the thread */
    __u64 object[SCRIPT_OBJECT_BYTES / 8]; /* what identifies code */
    __u64 text[16];                        /* of a string */
    /* PHP: address of each call's function; Ruby: each call's environment */
    __u64 functions[SCRIPT_CALLED_MAX];
    /* PHP: calls of generators that wait for the running one, outermost first. */
    __u64 delegates[PHP_DELEGATES];
    __u64 behind; /* PHP: the call after those */
    __u32 delegate_count, free;
    __u64 first,
        /* PHP: instructions of the innermost function; the next one according to a register; 0: none. */
        in_register;
    __u64 end;               /* Ruby: end of the frames */
    __u64 process, counted;  /* V8: its PID; bytes of source in which lines were counted */
    __u64 seen[SCRIPT_SEEN]; /* V8: hashes of the process and a function of its program */
    __u64 chain;             /* hash of the addresses of its code */
    __u64 named;             /* hash of what that code is */
    __u32 window_size;
    __u32 failed;             /* memory could not be read */
    __u32 language;           /* of the process's interpreter */
    __u32 quiet;              /* the same was announced before */
    __u32 code_size, zero;    /* bytes of `code` to write; 0: it cannot be written */
    struct rule_code_key key; /* of the code announced by `code` */
    struct rule_code identity;
    struct {
        struct script_record head;
        struct script_called called[SCRIPT_CALLED_MAX];
    } chain_record;
    struct {
        struct script_record head;
        struct script_code_told told;
        __u8 table[SCRIPT_TABLE_MAX];
    } code;
    __u8 window[SCRIPT_WINDOW + 8];
};
MAP(script_buffers, ARRAY, 0, 1, __u32, struct script_buffer);
