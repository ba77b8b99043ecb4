/* ruby_layout.h - where Ruby's structs have what tells the functions that run: offsets in bytes. Also compiled for the BPF target. */
#ifndef FATHOM_IMAGE_RUBY_LAYOUT_H
#define FATHOM_IMAGE_RUBY_LAYOUT_H

#include <linux/types.h>

struct ruby_layout {
    /* Where `ruby_current_ec` is, from the thread's FS base on: of an executable. 0: of a library, whose number and offset the loader has put at the
     * runtime's address (tls_index: "ELF Handling For Thread-Local Storage", 3.4). */
    __s64 current;
    __u32 ec_stack,
        ec_frame; /* in rb_execution_context_t: a stack, its size in words behind it; its innermost frame */
    __u32 frame_instruction, frame_code, frame_environment, frame_size; /* in rb_control_frame_t */
    __u32 code_body;                                                    /* in rb_iseq_t */
    /* In rb_iseq_constant_body: the words of the instructions, and behind their number, which is in the upper half of a word; the file, the short name and the name; the first line,
     * as a Fixnum; the lines (struct iseq_insn_info). */
    __u32 body_size, body_instructions, body_texts, body_line, body_lines;
};
#define RUBY_FRAME_BYTES 64u  /* of a frame that are read, */
#define RUBY_BODY_BYTES  152u /* and of a body */

#endif
