/*
 * python_layout.h - where CPython's structs have what tells the functions that run: offsets in bytes. Also compiled for the BPF target.
 */
#ifndef FATHOM_IMAGE_PYTHON_LAYOUT_H
#define FATHOM_IMAGE_PYTHON_LAYOUT_H

#include <linux/types.h>

#define PYTHON_NONE 0xffffffffu

struct python_layout {
    __u64 code_type; /* where PyCode_Type lies, from _PyRuntime on, modulo 2^64; 0: it is not known */
    /* In _PyRuntimeState. current: the state of the thread that holds the GIL; PYTHON_NONE: it does not tell. */
    __u32 runtime_current;
    __u32 runtime_interpreters, runtime_main; /* the first interpreter of the list; the main one */
    /* In PyInterpreterState. */
    __u32 interpreter_next, interpreter_threads;
    /* In PyThreadState. id: as of pthread_self(). frame: the innermost frame, or the _PyCFrame that has it at cframe_frame. */
    __u32 thread_next, thread_interpreter, thread_id, thread_frame;
    __u32 cframe_frame; /* PYTHON_NONE: there is no _PyCFrame */
    /* In _PyInterpreterFrame. A call of the loop by machine code is told by mark, a byte. Before 3.12 (is_entry) it is not 0 in the frame with which
     * the loop began, and shim is 0. From then on (owner) it is shim in a frame of no function, which stands for the call: the loop began
     * with the frame that it called. */
    __u32 frame_code, frame_previous, frame_instruction, frame_mark;
    __u32 frame_shim;
    /* In PyCodeObject. texts: pointers to the file, name, qualified name and table of lines, one behind the other. */
    __u32 code_line, code_texts, code_instructions;
    /* Of a string, its characters: where it is ASCII, and of any other one. */
    __u32 text_ascii, text_compact;
};

/* How much is read of each. */
#define PYTHON_THREAD_BYTES 256u /* PyThreadState */
#define PYTHON_FRAME_BYTES  80u  /* _PyInterpreterFrame */
#define PYTHON_CODE_BYTES   256u /* PyCodeObject, the first of its instructions among them */

/* A string: its head, by PEP 393 (Include/cpython/unicodeobject.h), */
struct python_string {
    __u64 count, type, length, hash;
    __u32 state, zero;
};
/* and what its state tells. The characters follow only if it is compact. */
#define PYTHON_STRING_WIDTH(state)   ((state) >> 2 & 7) /* bytes of each */
#define PYTHON_STRING_COMPACT(state) ((state) >> 5 & 1)
#define PYTHON_STRING_ASCII(state)   ((state) >> 6 & 1)

/* A bytes object: its size, and its bytes. */
#define PYTHON_BYTES_LENGTH 16u
#define PYTHON_BYTES_AT     32u

#endif
