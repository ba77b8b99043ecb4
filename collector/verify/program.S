/* program.S - the object file made of verify.bpf.c, which verify.c loads. */
	.section .rodata
	.balign 16
	.globl verify_program, verify_program_end
	.hidden verify_program, verify_program_end
verify_program:
	.incbin "collector/verify/verify.bpf.o"
verify_program_end:
	.section .note.GNU-stack, "", @progbits
