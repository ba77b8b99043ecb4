/* program.S - the object files made of verify.bpf.c, of which verify.c loads one. */
	.section .rodata
	.balign 16
	.globl verify_object, verify_object_end
	.hidden verify_object, verify_object_end
verify_object:
	.incbin "collector/verify/verify.bpf.o"
verify_object_end:
	.balign 16
	.globl verify_files_object, verify_files_object_end
	.hidden verify_files_object, verify_files_object_end
verify_files_object:
	.incbin "collector/verify/files.bpf.o"
verify_files_object_end:
	.section .note.GNU-stack, "", @progbits
