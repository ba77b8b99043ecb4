noinst_LTLIBRARIES += libimage.la
libimage_la_SOURCES = \
	image/elf/address_index.c image/elf/address_index.h \
	image/elf/build_id.c image/elf/build_id.h \
	image/block_list.h \
	image/build_id_cache.c image/build_id_cache.h \
	image/cache.c image/cache.h \
	image/calls/calls.c image/calls/calls.h image/calls/jumps.c image/calls/jumps.h image/calls/private.h \
	image/calls/entered.c image/calls/entry_checks.c image/calls/entry_checks.h image/calls/exits.c image/calls/exits.h image/calls/exports.c image/calls/fields.c image/calls/through.c image/calls/sites.c image/calls/taken.c image/calls/vtables.c \
	image/cfi/cfi.c image/cfi/cfi.h image/cfi/table.h \
	image/cfi/derived_registers.c image/cfi/evaluate.c image/cfi/registers.h \
	image/cfi/frames.c image/cfi/frames.h \
	image/cfi/machine.c image/cfi/machine.h \
	image/code/code.c image/code/code.h image/code/effects.c image/code/fields.h image/code/reader.h \
	image/cold.h image/cold_branches.c image/cold_names.c \
	image/coverage.c image/coverage.h \
	image/debug_file.c image/debug_file.h \
	image/debuginfod.c image/debuginfod.h \
	image/elf/elf_file.c image/elf/elf_file.h \
	image/block_map.c image/block_map.h image/blocks.c image/blocks.h image/claims.c image/claims.h image/derive.c image/derive.h image/derive_flow.c image/derive_flow.h \
	image/frame_flow.c image/frame_flow.h image/frame_state.c image/frame_state.h image/leaf_writes.c image/leaf_writes.h \
	image/go_stacks.c image/go_stacks.h image/go_table.c image/go_table.h \
	image/landing_pad.c image/landing_pad.h image/switch_tables.c image/switch_tables.h \
	image/function_code.c image/function_code.h image/function_parts.c image/function_parts.h \
	image/extent.c image/extent.h image/functions.c image/functions.h image/function_starts.c image/function_starts.h \
	image/image.c image/image.h image/image_private.h \
	image/image_file.c image/image_file.h \
	image/image_find.c image/image_find.h \
	image/mapped_name.c image/mapped_name.h \
	image/image_store.c image/image_store.h \
	image/return_range.c image/return_range.h \
	image/php.c image/python.c image/ruby.c image/script.c image/script.h image/script_layout.h image/script_private.h image/v8.c \
	image/run_time.c image/run_time.h \
	image/made/code_namer.c image/made/code_namer.h image/made/code_names.c image/made/code_names.h \
	image/made/jitdump.c image/made/jitdump.h image/made/perf_map.c image/made/perf_map.h \
	image/code/disassembler.c image/code/disassembler.h \
	image/code/access.c image/code/access.h \
	image/code/decoder.c image/code/decoder.h \
	image/code/insn.c image/code/insn.h \
	image/cfi/landing_pads.c image/cfi/landing_pads.h \
	image/kernel/kernel_names.c image/kernel/kernel_names.h image/kernel/layout.c image/kernel/layout.h \
	image/kernel/running.c image/kernel/running.h \
	image/linkage_names.c image/linkage_names.h image/lines/lines.c image/lines/lines.h \
	image/lines/lines_cache.c image/lines/lines_cache.h \
	image/lines/child.c image/lines/child.h image/lines/files.c image/lines/files.h \
	image/lines/reader.c image/lines/reader.h image/lines/go_lines.c image/lines/go_lines.h \
	image/lines/open_debug.c image/lines/open_debug.h image/lines/part.c image/lines/part.h image/lines/split.c image/lines/split.h image/lines/sections.c image/lines/sections.h \
	image/lines/ranges.c image/lines/unit.c image/lines/unit.h \
	image/elf/mini_debug.c image/elf/mini_debug.h \
	image/d_name.c image/d_name.h \
	image/name.c image/name.h image/no_return.c image/no_return.h \
	image/code/operands.c image/code/operands.h \
	image/markers.c image/markers.h \
	image/objects.c image/objects.h \
	image/probe_sites.c image/probe_sites.h \
	image/plt.c \
	image/elf/note.h image/elf/pointer.c image/elf/pointer.h \
	image/elf/program.c image/elf/program.h \
	image/elf/relocations.c image/elf/relocations.h \
	image/elf/slots.c image/elf/slots.h \
	image/elf/symbols.c image/elf/symbols.h \
	image/handler_jump.c image/handler_jump.h \
	image/stack_switch.c image/stack_switch.h \
	image/targets.c image/twins.c image/twins.h \
	image/cfi/thread_return.c image/cfi/thread_return.h \
	image/vdso.c image/vdso.h
libimage_la_LIBADD = $(ELF_LIBS) $(LZMA_LIBS) $(DWARF_LIBS) $(ZSTD_LIBS) $(DEFLATE_LIBS) $(IBERTY_LIBS) $(CAPSTONE_LIBS)
