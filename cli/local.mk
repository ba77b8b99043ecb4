bin_PROGRAMS += fathom
fathom_SOURCES = \
	cli/command.c cli/command.h \
	cli/evaluate.c \
	cli/evaluation.c cli/evaluation.h \
	cli/events.c cli/events.h \
	cli/exit.c cli/exit.h \
	cli/help.c \
	cli/main.c \
	cli/map.c \
	cli/options.c cli/options.h \
	cli/profile.c cli/profile.h \
	cli/record.c \
	cli/report.c \
	cli/target.c cli/target.h \
	cli/terminal.c cli/terminal.h \
	cli/train.c
fathom_LDADD = $(FATHOM_LIBS)
