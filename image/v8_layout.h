/*
 * v8_layout.h - where V8's structs have the running functions: offsets in bytes, for tagged pointers without
 * their tag. Also compiled for the BPF target.
 */
#ifndef FATHOM_IMAGE_V8_LAYOUT_H
#define FATHOM_IMAGE_V8_LAYOUT_H

#include <linux/types.h>

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

#endif
