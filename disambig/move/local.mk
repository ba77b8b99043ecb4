libdisambig_la_SOURCES += \
	disambig/move/appended.c disambig/move/appended.h \
	disambig/move/cfa.c \
	disambig/move/check.c \
	disambig/move/checker.h \
	disambig/move/compare.c \
	disambig/move/emit.c \
	disambig/move/frames.c \
	disambig/move/guards.c \
	disambig/move/layout.c \
	disambig/move/lsda.c \
	disambig/move/move.c disambig/move/move.h \
	disambig/move/output.c \
	disambig/move/pointers.c \
	disambig/move/refusal.c \
	disambig/move/sites.c \
	disambig/move/survey.c disambig/move/survey.h \
	disambig/move/symbols.c \
	disambig/move/tables.c \
	disambig/move/unit.c disambig/move/unit.h \
	disambig/move/work.c disambig/move/work.h
