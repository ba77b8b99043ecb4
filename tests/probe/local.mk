# Programs that the probe runtime is loaded into, and the command that does so.
probe_programs = tests/probe/contexts tests/probe/entries tests/probe/opens tests/probe/traps tests/probe/throws
check_PROGRAMS += $(probe_programs) tests/probe/refuse tests/probe/serve
E2E_TESTS += tests/probe/attach.test tests/probe/built.test tests/probe/cases.test tests/probe/faults.test \
	tests/probe/real.test

# As tests/programs are.
probe_objects = $(tests_probe_contexts_OBJECTS) $(tests_probe_entries_OBJECTS) $(tests_probe_opens_OBJECTS) \
	$(tests_probe_traps_OBJECTS) $(tests_probe_throws_OBJECTS)
$(probe_objects): override CFLAGS += $(program_flags)
$(probe_objects): override CXXFLAGS += $(program_flags)
tests_probe_refuse_SOURCES = tests/probe/refuse.c tests/probe/refuse.h
tests_probe_serve_SOURCES = tests/probe/serve.c tests/probe/refuse.h
tests_probe_serve_LDADD = libpathmap.la libprocess.la libperfdata.la libimage.la libbase.la $(ELF_LIBS) $(DWARF_LIBS) $(IBERTY_LIBS)
tests_probe_contexts_SOURCES = tests/probe/contexts.c tests/programs/program.h
tests_probe_contexts_CFLAGS = $(program_cflags)
tests_probe_contexts_LINK = $(program_link) -o $@
tests_probe_entries_SOURCES = tests/probe/entries.c tests/programs/program.h
tests_probe_entries_CFLAGS = $(program_cflags)
tests_probe_entries_LINK = $(program_link) -o $@
tests_probe_opens_SOURCES = tests/probe/opens.c tests/programs/program.h
tests_probe_opens_CFLAGS = $(program_cflags)
tests_probe_opens_LINK = $(program_link) -pthread -o $@
tests_probe_traps_SOURCES = tests/probe/traps.c tests/programs/program.h
tests_probe_traps_CFLAGS = $(program_cflags)
tests_probe_traps_LINK = $(program_link) -pthread -o $@
tests_probe_throws_SOURCES = tests/probe/throws.cc
tests_probe_throws_CXXFLAGS = $(CXXFLAGS) $(program_flags)
tests_probe_throws_LINK = $(CXX) $(CXXFLAGS) $(program_flags) -o $@
EXTRA_DIST += tests/probe/lib.sh tests/probe/cases.sh tests/probe/expected.sh
# These are built by the test, in several ways.
EXTRA_DIST += tests/probe/cases/cases.c tests/probe/cases/cases.h tests/probe/cases/case_flow.c \
	tests/probe/cases/case_opens.c tests/probe/cases/case_plugin.c tests/probe/cases/case_processes.c \
	tests/probe/cases/case_signals.c tests/probe/cases/case_threads.c tests/probe/cases/case_throws.cc
