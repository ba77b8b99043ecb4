/* php_layout.h - where PHP's structs have the running functions: offsets in bytes, multiples of 8 except the
 * line's. Also compiled for the BPF target. */
#ifndef FATHOM_IMAGE_PHP_LAYOUT_H
#define FATHOM_IMAGE_PHP_LAYOUT_H

#include <linux/types.h>

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
#define PHP_CALL_BYTES     80u  /* bytes read of a call, */
#define PHP_FUNCTION_BYTES 96u  /* of a function, in each sample, */
#define PHP_CODE_BYTES     168u /* and of a function, to tell it from others */
#define PHP_DELEGATES      16u  /* longest chain of generators that wait for one another */
#define PHP_INSTRUCTION    32u  /* bytes of an instruction */

#endif
