# The probe runtime: loaded into the trained program, so it depends on libc alone, and what runs at a hooked
# function's entry touches no vector register and calls nothing outside of it.
PROBE_CFLAGS = -std=gnu17 -fvisibility=hidden $(WARN_CFLAGS) -O2 -mgeneral-regs-only \
	-fno-builtin -ftls-model=initial-exec -fno-exceptions

noinst_LTLIBRARIES += libprobe_core.la
libprobe_core_la_CFLAGS = $(PROBE_CFLAGS)
libprobe_core_la_SOURCES = \
	pathmap/probe/calling.c \
	pathmap/probe/call_log.c pathmap/wire/call_log.h \
	pathmap/probe/core.c pathmap/probe/core.h \
	pathmap/probe/counters.c \
	pathmap/probe/cyg.c \
	pathmap/probe/enter.c \
	pathmap/probe/entry.S \
	pathmap/probe/entry_monitored.S \
	pathmap/probe/first_context.c \
	pathmap/probe/fork.c \
	pathmap/probe/functions.c \
	pathmap/probe/layout.h \
	pathmap/probe/maps.c pathmap/probe/maps.h \
	pathmap/probe/nodes.c \
	pathmap/probe/purge.c \
	base/raw.h \
	pathmap/probe/resync.c \
	pathmap/probe/saved_stacks.c \
	pathmap/probe/sigreturn.c \
	pathmap/probe/stack.c \
	pathmap/probe/arguments.h \
	pathmap/probe/state.h \
	pathmap/probe/store.c pathmap/wire/store.h \
	pathmap/probe/summary.c \
	pathmap/probe/thread.c \
	pathmap/probe/vma.c pathmap/probe/vma.h \
	pathmap/probe/wide.c

pkglib_LTLIBRARIES += libfathom-probe.la
libfathom_probe_la_CFLAGS = $(PROBE_CFLAGS)
# initfirst: the constructors of all other libraries are hooked too. now: no symbol is looked up in a hook.
libfathom_probe_la_LDFLAGS = -module -avoid-version -shared -no-undefined \
	-Wl,-z,now -Wl,-z,defs -Wl,-z,initfirst
libfathom_probe_la_SOURCES = \
	pathmap/probe/actions.c \
	pathmap/probe/bursts.c pathmap/probe/bursts.h \
	pathmap/probe/breakpoint.c pathmap/probe/breakpoint.h \
	pathmap/probe/elf_image.c pathmap/probe/elf_image.h \
	pathmap/probe/exec_calls.c \
	pathmap/probe/execs.c pathmap/probe/execs.h \
	pathmap/probe/filters.c \
	pathmap/probe/images.c pathmap/probe/images.h \
	pathmap/probe/leave.h \
	pathmap/probe/loader.c pathmap/probe/loader.h \
	pathmap/wire/mail.h \
	pathmap/probe/mail_client.c pathmap/probe/mail_client.h \
	pathmap/probe/masks.c \
	pathmap/probe/notes.c pathmap/probe/notes.h \
	pathmap/probe/outside.c pathmap/probe/outside.h \
	pathmap/probe/patch.c pathmap/probe/patch.h \
	pathmap/wire/plan.h pathmap/wire/plan_read.c \
	pathmap/probe/real.c pathmap/probe/real.h \
	pathmap/probe/region.c pathmap/probe/region.h \
	pathmap/probe/stacks.c \
	pathmap/probe/start.c \
	pathmap/probe/trap.c pathmap/probe/trap.h
libfathom_probe_la_LIBADD = libprobe_core.la
