/*
 * python_layout.h - where CPython's structs have what tells the functions that run: offsets in bytes. Also compiled for the BPF target.
 */
#ifndef FATHOM_IMAGE_PYTHON_LAYOUT_H
#define FATHOM_IMAGE_PYTHON_LAYOUT_H

#include <linux/types.h>

struct python_layout {
    __u32 runtime_current,
        runtime_interpreters; /* in _PyRuntimeState: the thread that holds the GIL; the first interpreter */
    __u32 interpreter_next, interpreter_threads; /* in PyInterpreterState */
    __u32 thread_next, thread_id,
        thread_frame;   /* in PyThreadState; id: as pthread_self(); frame: leads to _PyCFrame */
    __u32 cframe_frame; /* in _PyCFrame: the innermost frame */
    __u32 frame_code, frame_previous, frame_instruction, frame_entry; /* in _PyInterpreterFrame */
    __u32 code_line;                                                  /* in PyCodeObject, like all below */
    __u32 code_texts; /* file, name, qualified name, table of lines: pointers, one behind the other */
    __u32 code_instructions;
};
#define PYTHON_THREAD_BYTES 256u /* of a PyThreadState that are read, */
#define PYTHON_FRAME_BYTES  80u  /* of a frame, */
#define PYTHON_CODE_BYTES                                                                                    \
    256u /* and of a code object: those, and what it has behind them, where its instructions begin */

#endif
