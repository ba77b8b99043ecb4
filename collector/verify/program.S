/* program.S - the object file made of verify.bpf.c, which verify.c loads. */
	.section .rodata
	.balign 16
	.globl verify_object, verify_object_end
	.hidden verify_object, verify_object_end
verify_object:
	.incbin "collector/verify/verify.bpf.o"
verify_object_end:
	.section .note.GNU-stack, "", @progbits
