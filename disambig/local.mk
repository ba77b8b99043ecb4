noinst_LTLIBRARIES += libdisambig.la
libdisambig_la_SOURCES = \
	disambig/pads.h \
	disambig/frames/debug_frame.c disambig/frames/flow.c disambig/frames/frames.c disambig/frames/frames.h \
	disambig/frames/operands.c disambig/frames/private.h disambig/frames/refusal.c disambig/frames/rules.c \
	disambig/frames/targets.c disambig/frames/unit.c disambig/frames/unit.h disambig/frames/whole.c disambig/frames/whole.h
libdisambig_la_LIBADD = $(XXHASH_LIBS)
libdisambig_la_SOURCES += \
	disambig/patch/apply.h disambig/patch/check.c disambig/patch/compare.c disambig/patch/compare.h \
	disambig/patch/note.c disambig/patch/note.h disambig/patch/patch.h disambig/patch/resize.c
