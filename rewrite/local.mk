noinst_LTLIBRARIES += librewrite.la
librewrite_la_SOURCES = \
	rewrite/duplicate/snippets.c rewrite/duplicate/snippets.h \
	rewrite/duplicate/duplicate.c rewrite/duplicate/duplicate.h \
	rewrite/duplicate/flow.c rewrite/duplicate/flow.h \
	rewrite/duplicate/liveness.c rewrite/duplicate/liveness.h \
	rewrite/duplicate/plan.c rewrite/duplicate/plan.h \
	rewrite/duplicate/start.S \
	rewrite/duplicate/wire.h \
	rewrite/edits.c rewrite/edits.h \
	rewrite/enlarge.c rewrite/enlarge.h \
	rewrite/growth/debug_frame.c \
	rewrite/growth/flow.c \
	rewrite/growth/frames.h \
	rewrite/growth/growth.c rewrite/growth/growth.h \
	rewrite/growth/inserted.c \
	rewrite/growth/operands.c \
	rewrite/growth/refusal.c \
	rewrite/growth/rules.c \
	rewrite/growth/targets.c \
	rewrite/growth/unit.c rewrite/growth/unit.h \
	rewrite/growth/whole.c rewrite/growth/whole.h \
	rewrite/pads.h \
	rewrite/patch/apply.h \
	rewrite/patch/check.c \
	rewrite/patch/patch.h \
	rewrite/patch/resize.c \
	rewrite/move/addresses.c \
	rewrite/move/appended.c rewrite/move/appended.h \
	rewrite/move/cfa.c \
	rewrite/move/codes.c \
	rewrite/move/check.c \
	rewrite/move/check_addresses.c \
	rewrite/move/checker.h \
	rewrite/move/compare.c \
	rewrite/move/emit.c \
	rewrite/move/frames.c \
	rewrite/move/guards.c \
	rewrite/move/layout.c \
	rewrite/move/lsda.c \
	rewrite/move/move.c rewrite/move/move.h \
	rewrite/move/output.c \
	rewrite/move/pointers.c \
	rewrite/move/refusal.c \
	rewrite/move/sites.c \
	rewrite/move/start.c \
	rewrite/move/survey.c rewrite/move/survey.h \
	rewrite/move/symbols.c \
	rewrite/move/tables.c \
	rewrite/move/unit.c rewrite/move/unit.h \
	rewrite/move/work.c rewrite/move/work.h
