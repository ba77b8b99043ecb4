/* data.h - the maps of the BPF program, and what one sample is worked on with (part of verify.bpf.c). */
#ifndef FATHOM_COLLECTOR_VERIFY_BPF_DATA_H
#define FATHOM_COLLECTOR_VERIFY_BPF_DATA_H

/* By CPU; those that wake the recorder follow. Their number is set when it is loaded. */
struct {
    __uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
    __uint(key_size, 4);
    __uint(value_size, 4);
} outputs SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __uint(max_entries, VERIFY_FOLLOWED);
    __type(key, __u32);
    __type(value, __u32);
} followed SEC(".maps");

/* By process: where its known stacks are. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __uint(max_entries, VERIFY_PLACED);
    __type(key, __u32);
    __type(value, __u32);
} spaces SEC(".maps");

/* Of everyone, the machine may have more, and the ends of some are lost: the ones not used for longest go. */
struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, VERIFY_THREADS);
    __type(key, __u32);
    __type(value, struct rule_thread);
} threads SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __uint(max_entries, VERIFY_KEYS);
    __type(key, struct rule_key);
    __type(value, struct rule_known);
} known SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, VERIFY_BLOCKS);
    __type(key, __u32);
    __type(value, struct rule_words);
} words SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __uint(max_entries, VERIFY_SWITCHES);
    __type(key, __u32);
    __type(value, struct rule_switch);
} switches SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, VERIFY_TOLD);
    __type(key, struct rule_told_key);
    __type(value, struct rule_told);
} told SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, VERIFY_SHARES);
    __type(key, __u32);
    __type(value, struct rule_share);
} shares SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, VERIFY_THREADS);
    __type(key, __u32);
    __type(value, struct rule_wait);
} waits SEC(".maps");

/* Whether any process is among the next ones: looked up in each sample, which costs next to nothing in an array. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, __u32);
} any_script SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __uint(max_entries, VERIFY_SCRIPTS);
    __type(key, __u32);
    __type(value, struct rule_script);
} scripts SEC(".maps");

/* By number of a file with its code: as above, but `state` counts from where offset 0 of the file lies. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __uint(max_entries, VERIFY_SCRIPTS);
    __type(key, __u32);
    __type(value, struct rule_script);
} script_files SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, VERIFY_SCRIPT_THREADS);
    __type(key, __u32);
    __type(value, struct rule_script_thread);
} script_threads SEC(".maps");

/* By number: the chains that were announced; their value is 1. By a hash of where a chain's code is: the number that it had last. */
struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, VERIFY_CHAINS);
    __type(key, __u64);
    __type(value, __u64);
} chains SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, VERIFY_CODES);
    __type(key, struct rule_code_key);
    __type(value, struct rule_code);
} codes SEC(".maps");

#ifdef VERIFY_FILES
/* By process: where files lie, as far as it was asked. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __uint(max_entries, VERIFY_PLACED);
    __type(key, __u32);
    __type(value, struct rule_process);
} processes SEC(".maps");

/* The numbers of files, from the recorder. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __uint(max_entries, VERIFY_FILES_MAX);
    __type(key, struct stack_file);
    __type(value, __u32);
} files SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __uint(max_entries, VERIFY_ROWS);
    __type(key, struct code_rows_key);
    __type(value, struct code_rows);
} rows SEC(".maps");
#endif

/* What the kernel's list of mappings tells of an address. */
struct seen {
    struct stack_file file; /* inode 0: none */
    __u64 start, size;      /* of the mapping; 0: there is none */
    __u64 at;               /* where the file's offset 0 would lie */
};

/* Where code lies that a sample's stack is compared with. */
struct lying {
    struct stack_code code; /* of the PC */
    struct seen seen;
    __u64 start_stack;
    __u32 pid;
    bool looked; /* the list of mappings was asked, which can be done once in an interrupt */
    bool guessed;
    __u64 caller_at;      /* as code.at, of the caller's code that was found last; 0: none */
    __u32 version, added; /* of the process that `files` is of */
    __u32 count, used;    /* of `files`; bits of those that the last known stack has */
    struct {
        __u64 at;
        __u32 file, zero;
    } files[STACK_PLACED_MAX];
    struct rule_process process; /* to be put into the map */
};

/* A known stack, read at once, as the entry may be replaced meanwhile. */
struct found {
    __u32 number, alias, version;
};

/* What known stacks are compared with: a sample's stack, or that of its caller. */
struct trial {
    struct rule_key key; /* where they are */
    __u64 ip, sp, bp, base, depth, late_sp;
    __u64 at;     /* where offset 0 of the file with its code lies */
    __u32 file;   /* the number of that; 0: it is not known */
    __u32 around; /* index of the first block of the known stack that fits a caller's; 0: none does */
    __u32 extent; /* bytes that the key's stacks were compared with */
    __u32 read;   /* bytes, for all keys of this sample */
    __u32 split;  /* as in struct moment */
    bool asked;   /* whether it goes on on another stack was asked: no */
    bool callers; /* its registers other than SP and BP, and what was below SP, are not known */
    struct found found;
};

/* What is told of a known stack that was read elsewhere. */
struct placed_record {
    struct stack_record head;
    struct stack_part part;
    struct stack_placed placed;
    __u64 at[STACK_PLACED_MAX];
};

/* Behind the bytes of a stack that is new up to a known one. */
#define WORDS_MAX 512u /* at least RULE_WORDS * RULE_BLOCKS_MAX */
struct words_part {
    struct stack_part part;
    struct stack_words known;
    struct stack_word_at words[WORDS_MAX];
};

/* One sample. In the CPU's buffer, as a program's stack is small. */
struct moment {
    struct rule_told_key told_key;
    __u64 base, ip, sp, bp, depth;
    __u64 late_sp; /* precise: where SP was when the stack could be read, some instructions later; else sp */
    __u64 birth;   /* of the thread */
    __u32 count;   /* as in rule_told */
    bool apart;    /* its stack has no base that is known */
    __u32 pid;
    bool deep; /* it is larger than a record, which has an outer_part */
    __u32
        joint; /* bytes of it, from where on it is a known one, of which the buffer's `joint` has the words; 0: none is known */
    __u32 space;
    __u32 inner; /* bytes of the stack in the record's first part */
    __u32
        split; /* bytes of the system stack, after which it goes on on another one; 0: it does not, or that was not asked */
    __u64 now;            /* CLOCK_MONOTONIC, ns: only if its stack was not known */
    __u32 file;           /* number of the PC's; 0: it has none, or that is not known */
    __u64 compared_depth; /* of what was found */
    __u64 registers[STACK_RECORD_REGISTER_COUNT]; /* the user's, of one that is looked at */
};

struct buffer {
    struct moment moment;
    struct stack_record_read record;
    __u8 stack[RULE_BUFFER + 8];
    __u8 below[STACK_RECORD_BELOW + 8]; /* the red zone, to be compared */
    __u8 outer[STACK_RECORD_OUTER + 8]; /* the outermost bytes, to be compared */
    struct {
        __u64 sp, pc; /* where the stack goes on behind the system stack */
        __u64 size;   /* bytes of it that a record has room for */
    } other;
    struct lying lying;
    struct placed_record placed;
    struct trial trial;
    struct words_part joint;
    struct rule_told announced; /* to be put into maps */
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

/* By CPU: values of a per-CPU map are 32 KiB at most. As many as there are CPUs; set when it is loaded. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct buffer);
} buffers SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, __u32);
} numbers SEC(".maps");

/* By CPU: bytes of stacks that may still be written before the recorder empties the ring. The rest of it is for
 * samples, and for the records about tasks, without which many samples are worth nothing. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, __s64);
} rooms SEC(".maps");

/* What a thread's interpreter runs is read into this. By CPU; their number is set when it is loaded. */
#define SCRIPT_OBJECT_BYTES 256u
#define SCRIPT_NAME_WORDS   12u   /* 8 bytes each: of a name from its length on, to tell it from others */
#define SCRIPT_FRAME_BYTES  80u   /* of a frame that are read */
#define SCRIPT_WINDOW       4096u /* bytes that hold several frames, mostly */
#define SCRIPT_SEEN         256u
/* Bytes of sources in which lines are counted before one chain is told, and those of one function more. */
#define SCRIPT_COUNTED_MOST 262144u
struct script_buffer {
    struct rule_script script;             /* to be put into the map; V8: the process's */
    struct rule_script_thread thread;      /* likewise: the sampled one */
    struct rule_script_thread last;        /* as it was before */
    __u64 next;                            /* address of the frame to read; 0: none */
    __u64 window_at;                       /* address of the bytes in `window` */
    __u64 state[PYTHON_THREAD_BYTES / 8];  /* the thread's */
    __u64 object[SCRIPT_OBJECT_BYTES / 8]; /* what code is told by */
    __u64 text[SCRIPT_NAME_WORDS];         /* of a string */
    __u64 functions[SCRIPT_CALLED_MAX];    /* PHP: of each call, where it is; Ruby: its environment */
    __u64 delegates
        [PHP_DELEGATES]; /* PHP: calls of generators that wait for the one that runs, the outermost first, */
    __u64 behind;        /* and the call that comes after those */
    __u32 delegate_count, free;
    __u64 first,
        in_register; /* PHP: the innermost function's instructions, and the next of them by a register; 0: none */
    __u64 end;       /* Ruby: where the frames end */
    __u64 process, counted;  /* V8: its number; bytes of sources in which lines were counted */
    __u64 seen[SCRIPT_SEEN]; /* V8: hashes of the process and a function of its program */
    __u64 chain;             /* a hash of where its code is */
    __u64 named;             /* and of what that is */
    __u32 window_size;
    __u32 failed;             /* memory could not be read */
    __u32 language;           /* of the process's interpreter */
    __u32 quiet;              /* what was read is what was announced before */
    struct rule_code_key key; /* of the code that `code` tells */
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
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct script_buffer);
} script_buffers SEC(".maps");

#endif
