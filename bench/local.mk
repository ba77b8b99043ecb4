check_PROGRAMS += bench/repeat_recording # tests/e2e/reads.test, tests/e2e/long.test
bench_repeat_recording_SOURCES = bench/repeat_recording.c
bench_repeat_recording_LDADD = libperfdata.la libbase.la

EXTRA_PROGRAMS += bench/bench_cfi
BENCHES += bench/bench_cfi
bench_bench_cfi_SOURCES = bench/bench_cfi.c
bench_bench_cfi_LDADD = libimage.la libbase.la

BENCHES += bench/bench_perfdata
EXTRA_PROGRAMS += bench/bench_perfdata
bench_bench_perfdata_SOURCES = bench/bench_perfdata.c
bench_bench_perfdata_LDADD = libperfdata.la libbase.la

BENCHES += bench/bench_pathmap bench/bench_hcct
EXTRA_PROGRAMS += bench/bench_pathmap bench/bench_hcct
bench_bench_pathmap_SOURCES = bench/bench_pathmap.c
bench_bench_pathmap_LDADD = libpathmap.la libprocess.la libperfdata.la libimage.la libbase.la
bench_bench_hcct_SOURCES = bench/bench_hcct.c
bench_bench_hcct_LDADD = libhcct.la libbase.la

BENCHES += bench/bench_probe
EXTRA_PROGRAMS += bench/bench_probe
bench_bench_probe_SOURCES = bench/bench_probe.c
bench_bench_probe_LDADD = libprobe_core.la

EXTRA_PROGRAMS += bench/flat_record
bench_flat_record_SOURCES = bench/flat_record.c
EXTRA_PROGRAMS += bench/syscall_loop
bench_syscall_loop_SOURCES = bench/syscall_loop.c

EXTRA_PROGRAMS += bench/fault_stack bench/cpu_of bench/overlap
bench_fault_stack_SOURCES = bench/fault_stack.c
bench_cpu_of_SOURCES = bench/cpu_of.c
bench_overlap_SOURCES = bench/overlap.c
bench_overlap_LDADD = libstreams.la libbase.la

EXTRA_DIST += bench/checks.py bench/run.sh bench/verify.sh bench/verified.sh bench/script.sh bench/jit.sh bench/inlined.sh bench/go.sh bench/go.py bench/train.sh bench/accuracy.sh bench/map_alone.sh \
	bench/hcct.sh bench/trees.py bench/stored.sh bench/record.sh bench/rows.sh bench/sources.sh bench/inputs.sh bench/disambig.sh \
	bench/protocols.sh bench/text.awk bench/unknown.sh bench/work.sh bench/other.lua bench/other.sql bench/overlap.sh bench/alloc.sh bench/latency.sh bench/script_cost.sh bench/compilers.sh bench/flat_profile.py bench/pairs.py
CLEANFILES += $(EXTRA_PROGRAMS)
# Figures with their limits and peers; docs/benchmarks.md keeps the last ones.
.PHONY: bench bench-hcct bench-record bench-verify bench-train bench-accuracy bench-stored
# So that they go on compiling.
bench-programs: $(EXTRA_PROGRAMS)
.PHONY: bench-programs

bench: fathom$(EXEEXT) libfathom-probe.la $(EXTRA_PROGRAMS)
	@$(SHELL) $(top_srcdir)/bench/run.sh $(abs_builddir)/fathom '$(BENCHES)' $(abs_top_srcdir)
	@$(BENCH_VERIFY)
	@$(BENCH_TRAIN)
	@$(BENCH_HCCT)

# What an event of a call trace costs in each counter.
BENCH_HCCT = $(SHELL) $(top_srcdir)/bench/hcct.sh $(abs_builddir)/fathom $(abs_top_srcdir)
bench-hcct: fathom$(EXEEXT) libfathom-probe.la
	@$(BENCH_HCCT)

# What verified stacks cost.
BENCH_VERIFY = $(SHELL) $(top_srcdir)/bench/verify.sh $(abs_builddir)/fathom $(abs_builddir)/bench $(abs_top_srcdir)
bench-verify: fathom$(EXEEXT) bench/fault_stack$(EXEEXT) bench/cpu_of$(EXEEXT)
	@$(BENCH_VERIFY)

# What a sample costs the program that is recorded.
bench-record: fathom$(EXEEXT) bench/flat_record$(EXEEXT) bench/syscall_loop$(EXEEXT) bench/cpu_of$(EXEEXT)
	@$(SHELL) $(top_srcdir)/bench/record.sh $(abs_builddir)/fathom

# How much is on the right path when stacks are compared: SUBJECTS names some of its programs.
bench-verified: fathom$(EXEEXT)
	@$(SHELL) $(top_srcdir)/bench/verified.sh $(abs_builddir)/fathom $(abs_top_srcdir) $(SUBJECTS)

# How good inference is on the stored recordings: SUBJECTS names some of their programs.
bench-stored: fathom$(EXEEXT)
	@$(SHELL) $(top_srcdir)/bench/stored.sh $(abs_builddir)/fathom $(abs_top_srcdir) $(SUBJECTS)

# What exhaustive training costs programs. Programs that are built for the benchmarks are kept until "make clean".
BENCH_ARGUMENTS = $(abs_builddir)/fathom $(abs_top_srcdir) $(abs_builddir)/bench/programs
BENCH_TRAIN = $(SHELL) $(top_srcdir)/bench/train.sh $(BENCH_ARGUMENTS)
bench-train: fathom$(EXEEXT) libfathom-probe.la
	@$(BENCH_TRAIN)
# How often inference is right: SUBJECTS in the environment or on the command line names some of its programs.
bench-accuracy: fathom$(EXEEXT) libfathom-probe.la bench/bench_automaton
	@$(SHELL) $(top_srcdir)/bench/accuracy.sh $(BENCH_ARGUMENTS) $(SUBJECTS)
clean-local: clean-programs
.PHONY: clean-programs
clean-programs:
	rm -rf bench/programs

EXTRA_PROGRAMS += bench/bench_infer
BENCHES += bench/bench_infer
bench_bench_infer_SOURCES = bench/bench_infer.c tests/process/self.c tests/process/self.h tests/process/maps.c tests/process/maps.h
bench_bench_infer_LDADD = libinfer.la libpathmap.la libprocess.la libperfdata.la libimage.la libbase.la

EXTRA_PROGRAMS += bench/bench_store
bench_bench_store_SOURCES = bench/bench_store.c
bench_bench_store_LDADD = libstore.la libprofile.la libhcct.la libinfer.la libpathmap.la libprocess.la libperfdata.la libimage.la libbase.la

EXTRA_PROGRAMS += bench/bench_calls
BENCHES += bench/bench_calls
bench_bench_calls_SOURCES = bench/bench_calls.c
bench_bench_calls_LDADD = libimage.la libbase.la

EXTRA_PROGRAMS += bench/bench_automaton
bench_bench_automaton_SOURCES = bench/bench_automaton.c
bench_bench_automaton_LDADD = libinfer.la libpathmap.la libprocess.la libperfdata.la libimage.la libbase.la

EXTRA_PROGRAMS += bench/bench_disambig
BENCHES += bench/bench_disambig
bench_bench_disambig_SOURCES = bench/bench_disambig.c
bench_bench_disambig_LDADD = libdisambig.la librewrite.la libpathmap.la libprocess.la libperfdata.la libimage.la libbase.la

EXTRA_PROGRAMS += bench/bench_heights
bench_bench_heights_SOURCES = bench/bench_heights.c
bench_bench_heights_LDADD = libdisambig.la librewrite.la libpathmap.la libprocess.la libperfdata.la libimage.la libbase.la
# What frame sizes that tell paths apart reach: FIGURES, METHOD, SUBJECTS and so on on the command line (disambig.sh).
bench-disambig: fathom$(EXEEXT) libfathom-probe.la bench/bench_heights$(EXEEXT)
	@$(SHELL) $(top_srcdir)/bench/disambig.sh $(BENCH_ARGUMENTS) $(FIGURES)
.PHONY: bench-disambig

EXTRA_PROGRAMS += bench/bench_phases # of a trace: bench/bench_phases.c
bench_bench_phases_SOURCES = bench/bench_phases.c
bench_bench_phases_LDADD = libphases.la libhcct.la libbase.la
