/*
 * python_layout.h - where CPython's structs have what tells the functions that run: offsets in bytes. Also compiled for the BPF target.
 */
#ifndef FATHOM_IMAGE_PYTHON_LAYOUT_H
#define FATHOM_IMAGE_PYTHON_LAYOUT_H

#include <linux/types.h>

#define PYTHON_NONE 0xffffffffu

struct python_layout {
    __u32
        runtime_current; /* in _PyRuntimeState: the thread that holds the GIL; PYTHON_NONE: it does not tell */
    __u32 runtime_interpreters, runtime_main;    /* the first interpreter of the list, and the main one */
    __u32 interpreter_next, interpreter_threads; /* in PyInterpreterState */
    __u32 thread_next, thread_interpreter, thread_id; /* in PyThreadState; id: as pthread_self() */
    __u32 thread_frame;                               /* the _PyCFrame, */
    __u32 cframe_frame; /* in which is the innermost frame; PYTHON_NONE: or that itself */
    __u32 frame_code, frame_previous, frame_instruction; /* in _PyInterpreterFrame */
    __u32
        frame_mark; /* a byte: not 0 if machine code called the interpreter's loop, which began with this frame; */
    __u32
        frame_shim; /* or, not 0: the value of a frame that stands for that call, beyond the one with which it began */
    __u32 code_line;  /* in PyCodeObject, like all below */
    __u32 code_texts; /* file, name, qualified name, table of lines: pointers, one behind the other */
    __u32 code_instructions;
    __u32 text_ascii, text_compact; /* the characters of a string that is ASCII, and of any other one */
};
#define PYTHON_THREAD_BYTES 256u /* of a PyThreadState that are read, */
#define PYTHON_FRAME_BYTES  80u  /* of a frame, */
#define PYTHON_NAME_WORDS   12u  /* 8 bytes each: of a name from its length on, to tell it from others, */
#define PYTHON_CODE_BYTES                                                                                    \
    256u /* and of a code object: those, and what it has behind them, where its instructions begin */

#endif
