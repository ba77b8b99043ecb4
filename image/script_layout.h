/*
 * script_layout.h - where an interpreter's structs have the running functions: offsets in bytes. Also compiled for
 * the BPF target.
 */
#ifndef FATHOM_IMAGE_SCRIPT_LAYOUT_H
#define FATHOM_IMAGE_SCRIPT_LAYOUT_H

#include <linux/types.h>

#include "base/script_language.h"

#define PYTHON_NONE 0xffffffffu

/* Of CPython. */
struct python_layout {
    __u64 code_type; /* distance from _PyRuntime to PyCode_Type, modulo 2^64; 0: unknown */
    /* In _PyRuntimeState. current: the state of the thread that holds the GIL; PYTHON_NONE: not there. */
    __u32 runtime_current;
    __u32 runtime_interpreters, runtime_main; /* the first interpreter of the list; the main one */
    /* In PyInterpreterState. */
    __u32 interpreter_next, interpreter_threads;
    /* In PyThreadState. id: as pthread_self(). frame: the innermost frame, or the _PyCFrame that points to it at
     * cframe_frame. */
    __u32 thread_next, thread_interpreter, thread_id, thread_frame;
    __u32 cframe_frame; /* PYTHON_NONE: there is no _PyCFrame */
    /* In _PyInterpreterFrame. mark (a byte) shows where machine code called the interpreter's loop. Before 3.12
     * it is is_entry: not 0 in the frame with which the loop began, and shim is 0. Later it is owner: equal to
     * shim in a frame without a function, which stands for the call; the loop began with the frame that this one
     * called. */
    __u32 frame_code, frame_previous, frame_instruction, frame_mark;
    __u32 frame_shim;
    /* In PyCodeObject. texts: adjacent pointers to the file, name, qualified name and line table. */
    __u32 code_line, code_texts, code_instructions;
    /* Offset of a string's characters: of an ASCII string, and of any other. */
    __u32 text_ascii, text_compact;
};

/* How much of each is read, in bytes. */
#define PYTHON_THREAD_BYTES 256u /* PyThreadState */
#define PYTHON_FRAME_BYTES  80u  /* _PyInterpreterFrame */
#define PYTHON_CODE_BYTES   256u /* PyCodeObject, including its first instructions */

/* A string: its head, by PEP 393 (Include/cpython/unicodeobject.h), */
struct python_string {
    __u64 count, type, length, hash;
    __u32 state, zero;
};
/* and fields of its state. Only of a compact string do the characters follow. */
#define PYTHON_STRING_WIDTH(state)   ((state) >> 2 & 7) /* bytes of each character */
#define PYTHON_STRING_COMPACT(state) ((state) >> 5 & 1)
#define PYTHON_STRING_ASCII(state)   ((state) >> 6 & 1)

/* A bytes object: offsets of its size, and of its bytes. */
#define PYTHON_BYTES_LENGTH 16u
#define PYTHON_BYTES_AT     32u

/* Of PHP: multiples of 8 except the line's. */
struct php_layout {
    __u32 globals_call;                                   /* in zend_executor_globals: the innermost call */
    __u32 call_instruction, call_function, call_previous; /* in zend_execute_data, */
    __u32 call_flags;                                     /* with ZEND_CALL_TOP, */
    __u32 call_object;                                    /* and `this` */
    __u32 generator_call, generator_parent; /* in zend_generator: its call; the one it waits for */
    __u32 function_name, function_class,
        function_instructions; /* in zend_op_array, whose first byte is its type; */
    __u32 function_count;      /* number of instructions, in the upper half of the word; */
    __u32 function_file, function_line;
    __u32 class_name;        /* in zend_class_entry */
    __u32 instruction_line;  /* in zend_op */
    __u32 text_length, text; /* in zend_string: its length, and its characters */
};
#define PHP_FUNCTION_BYTES 96u  /* bytes read of a function, in each sample, */
#define PHP_CODE_BYTES     168u /* and of a function, to tell it from others */
#define PHP_DELEGATES      16u  /* longest chain of generators that wait for one another */
#define PHP_INSTRUCTION    32u  /* bytes of an instruction */

/* Of Ruby. */
struct ruby_layout {
    /* In an executable: offset of `ruby_current_ec` from the thread's FS base. 0: in a library, whose module
     * number and offset the loader puts at the runtime's address (tls_index: "ELF Handling For Thread-Local
     * Storage", 3.4). */
    __s64 current;
    __u32 ec_stack,
        ec_frame; /* in rb_execution_context_t: its stack, followed by the stack's size in words; its innermost frame */
    __u32 frame_instruction, frame_code, frame_environment, frame_size; /* in rb_control_frame_t */
    __u32 code_body;                                                    /* in rb_iseq_t */
    /* In rb_iseq_constant_body: size: in words, in the upper half of a word; instructions; texts: file, short
     * name and name; line: the first one, as a Fixnum; lines (struct iseq_insn_info). */
    __u32 body_size, body_instructions, body_texts, body_line, body_lines;
};
#define RUBY_FRAME_BYTES 64u  /* bytes read of a frame, */
#define RUBY_BODY_BYTES  152u /* and of a body */

/* Of V8, for tagged pointers without their tag. */
struct v8_layout {
    /* Distance from the thread's isolate pointer up to its FS base; 0: the isolate is the value of a key of
     * pthread_getspecific(), an int at the runtime's state. */
    __u32 thread_isolate;
    /* In Isolate. entry: the stack where JavaScript begins, 0 if none runs. exit: the frame that called C++, 0 if
     * none. call: the same for a call without an exit frame. */
    __u32 isolate_entry, isolate_exit, isolate_call;
    __u32 function_shared;                         /* in JSFunction, */
    __u32 shared_data, shared_name, shared_script; /* in SharedFunctionInfo, */
    __u32 script_name, script_source;              /* in Script */
    __u32 map_type;                                /* in Map: instance type, 16 bits */
    __u32 scope_locals,
        scope_first; /* in ScopeInfo: number of locals, and where the part begins whose form its flags give (v8.h) */
    __u32 text_length, text; /* in String; SeqString */
    __u32 cons_first, cons_second, thin_actual, sliced_parent, sliced_offset, external_data;
    __u32 type_scope, type_script; /* instance types */
    /* Frame types: JSEntry, JSConstructEntry, WebAssembly's, its calls of JavaScript; a regular expression's, 0:
     * it has none. */
    __u32 frame_entry, frame_construct, frame_wasm, frame_wasm_call, frame_regexp;
};

struct script_layout {
    __u32 language; /* enum script_language */
    union {
        struct python_layout python;
        struct php_layout php;
        struct ruby_layout ruby;
        struct v8_layout v8;
    };
};

#endif
