noinst_LTLIBRARIES += libimage.la
libimage_la_SOURCES = \
	image/address_index.c image/address_index.h \
	image/build_id.c image/build_id.h \
	image/cache.c image/cache.h \
	image/calls.c image/calls.h image/calls_private.h \
	image/calls_entered.c image/calls_exports.c image/calls_fields.c image/calls_operands.c image/calls_sites.c image/calls_taken.c image/calls_tables.c \
	image/cfi.c image/cfi.h image/cfi_table.h \
	image/cfi_expression.c image/cfi_expression.h \
	image/cfi_frames.c image/cfi_frames.h \
	image/cfi_machine.c image/cfi_machine.h \
	image/code.c image/code.h image/code_effects.c image/code_reader.h \
	image/cold.h image/cold_branches.c image/cold_names.c \
	image/debug_file.c image/debug_file.h \
	image/debuginfod.c image/debuginfod.h \
	image/elf_file.c image/elf_file.h \
	image/frame_flow.c image/frame_flow.h \
	image/function_code.c image/function_code.h \
	image/functions.c image/functions.h \
	image/image.c image/image.h image/image_private.h \
	image/image_find.c image/image_find.h \
	image/mapped_name.c image/mapped_name.h \
	image/image_store.c image/image_store.h \
	image/insn.c image/insn.h \
	image/landing_pads.c image/landing_pads.h \
	image/lines.c image/lines.h \
	image/lines_child.c image/lines_child.h \
	image/lines_reader.c image/lines_reader.h \
	image/lines_ranges.c image/lines_unit.c image/lines_unit.h \
	image/mini_debug.c image/mini_debug.h \
	image/name.c image/name.h \
	image/operands.c image/operands.h \
	image/plt.c \
	image/pointer.c image/pointer.h \
	image/program.c image/program.h \
	image/relocations.c image/relocations.h \
	image/slots.c image/slots.h \
	image/symbols.c image/symbols.h \
	image/targets.c \
	image/thread_return.c image/thread_return.h \
	image/vdso.c image/vdso.h
libimage_la_LIBADD = $(ELF_LIBS) $(LZMA_LIBS) $(DWARF_LIBS) $(IBERTY_LIBS) $(CAPSTONE_LIBS)
