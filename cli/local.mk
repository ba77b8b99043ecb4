bin_PROGRAMS += fathom
fathom_SOURCES = \
	cli/agent.c \
	cli/agent/config.c cli/agent/config.h \
	cli/agent/shipping.c cli/agent/shipping.h \
	cli/ambiguity.c \
	cli/annotate.c \
	cli/archive.c \
	cli/disambig.c \
	cli/calls.c \
	cli/command.c cli/command.h \
	cli/doctor.c \
	cli/evaluate.c \
	cli/events.c \
	cli/exit.c cli/exit.h \
	cli/graph.c \
	cli/hcct.c \
	cli/help.c \
	cli/interrupt.c cli/interrupt.h \
	cli/main.c \
	cli/map.c \
	cli/options.c cli/options.h \
	cli/output.c cli/output.h \
	cli/pager.c cli/pager.h \
	cli/privilege.c cli/privilege.h \
	cli/record.c cli/record.h cli/record_report.c \
	cli/report_rows.c cli/report_rows.h \
	cli/report.c \
	cli/completion.c cli/completion.h cli/diff.c \
	cli/phases.c cli/phase_rows.h cli/phases_policy.c cli/phases_policy.h \
	cli/script.c \
	cli/store.c cli/shared_rows.h \
	cli/target.c cli/target.h \
	cli/terminal.c cli/terminal.h \
	cli/top.c \
	cli/top/screen.c cli/top/screen.h \
	cli/top/state.h \
	cli/top/text.c cli/top/text.h \
	cli/streams.c \
	cli/trace.c cli/trace_rows.c cli/trace_rows.h \
	cli/train.c

fathom_LDADD = libagent.la libapidisambig.la libapistreams.la libapi.la libstreams.la $(FATHOM_LIBS) $(NCURSES_LIBS)

# What shells complete, as the program itself tells it.
bashcompletiondir = $(datadir)/bash-completion/completions
zshcompletiondir = $(datadir)/zsh/site-functions
nodist_bashcompletion_DATA = cli/completions/fathom
nodist_zshcompletion_DATA = cli/completions/_fathom
CLEANFILES += cli/completions/fathom cli/completions/_fathom
cli/completions/fathom: fathom$(EXEEXT)
	$(AM_V_GEN)$(MKDIR_P) cli/completions && ./fathom$(EXEEXT) help --completion bash >$@.new && mv $@.new $@
cli/completions/_fathom: fathom$(EXEEXT)
	$(AM_V_GEN)$(MKDIR_P) cli/completions && ./fathom$(EXEEXT) help --completion zsh >$@.new && mv $@.new $@
