/*
 * python_layout.h - where CPython's structs have the running functions: offsets in bytes. Also compiled for the
 * BPF target.
 */
#ifndef FATHOM_IMAGE_PYTHON_LAYOUT_H
#define FATHOM_IMAGE_PYTHON_LAYOUT_H

#include <linux/types.h>

#define PYTHON_NONE 0xffffffffu

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

#endif
