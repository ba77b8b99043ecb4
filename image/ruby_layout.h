/* ruby_layout.h - where Ruby's structs have the running functions: offsets in bytes. Also compiled for the BPF
 * target. */
#ifndef FATHOM_IMAGE_RUBY_LAYOUT_H
#define FATHOM_IMAGE_RUBY_LAYOUT_H

#include <linux/types.h>

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

#endif
