# libfathom: everything below it in one shared library; only what api/fathom.h declares leaves it. The commands use it, too.
noinst_LTLIBRARIES += libapi.la
libapi_la_SOURCES = \
	api/archive/archive.c api/archive/archiving.h \
	api/archive/cache.c \
	api/archive/contents.c api/archive/contents.h \
	api/archive/kernel.c \
	api/archive/pack.c \
	api/archived.c api/archived.h \
	api/calls.c api/calls_data.h api/calls_text.c \
	api/contexts.c \
	api/counter.h \
	api/doctor/doctor.c api/doctor/doctor.h \
	api/doctor/hardware.c \
	api/doctor/program.c \
	api/doctor/rights.c \
	api/doctor/rows.c api/doctor/rows.h \
	api/doctor/runtimes.c api/doctor/runtimes.h \
	api/doctor/trial.c api/doctor/trial.h api/doctor/trial_machine.c api/doctor/trial_read.c api/doctor/trial_report.c \
	api/doctor/trial_run.c api/doctor/trial_run.h \
	api/doctor/workload.c api/doctor/workload.h \
	api/doctor/written_names.c api/doctor/written_names.h \
	api/evaluate/evaluating.h api/evaluate/evaluation.c \
	api/evaluate/json.c \
	api/evaluate/maps.c \
	api/evaluate/path_names.c api/evaluate/path_names.h \
	api/evaluate/record.c \
	api/evaluate/stages.c \
	api/evaluate/text.c \
	api/events.c \
	api/graph.c \
	api/hooks/hooked.c api/hooks/hooked.h \
	api/hooks/hooks.c api/hooks/hooks.h \
	api/hooks/phased.c api/hooks/phased.h \
	api/host.c api/host.h \
	api/hot.c \
	api/inferred.h \
	api/known_frames.c api/known_frames.h \
	api/cached_maps.c api/cached_maps.h \
	api/map/cached.c \
	api/map/merge.c \
	api/map/recover.c api/map/recover.h \
	api/map/show.c \
	api/record/clocks.c api/record/clocks.h \
	api/record/control_socket.c api/record/control_socket.h \
	api/record/learning.c api/record/learning.h \
	api/record/live.c \
	api/record/mapped.c api/record/mapped.h \
	api/record/mapped_finder.c api/record/mapped_finder.h \
	api/record/code_files.c api/record/code_files.h \
	api/record/allocations.c api/record/allocations.h \
	api/record/java_maps.c api/record/java_maps.h \
	api/record/mapped_sink.c api/record/mapped_sink.h \
	api/record/phase_control.h \
	api/record/phase_switch.c api/record/phase_switch.h \
	api/record/own.c api/record/own.h \
	api/record/part.c api/record/part.h \
	api/record/recorder.c api/record/recorder.h \
	api/record/series.c api/record/series.h \
	api/record/stack_pairs.c api/record/stack_pairs.h \
	api/record/stack_sink.c api/record/stack_sink.h \
	api/record/target.c api/record/target.h \
	api/record/walk_sink.c api/record/walk_sink.h \
	api/report/script_chain.c api/report/script_chain.h \
	api/report/symbol_file.c api/report/symbol_file.h \
	api/report/diff.c \
	api/report/heading.c api/report/reporting_data.h \
	api/report/options.c api/report/options.h \
	api/report/perf_export.c api/report/perf_export.h \
	api/report/report.c api/report/report.h \
	api/report/local_maps.c api/report/local_maps.h api/report/reporting.c api/report/reporting.h \
	api/resolve/answer.c api/resolve/answer.h \
	api/resolve/dumped.c api/resolve/dumped.h \
	api/resolve/followed.c api/resolve/followed.h \
	api/resolve/resolver.c api/resolve/resolving.h \
	api/resolve/watch.c \
	api/run.c api/run.h \
	api/runtime.c api/runtime.h \
	api/store/compared.c api/store/compared.h \
	api/store/import.c \
	api/store/push.c api/store/push.h \
	api/store/selection.c api/store/selection.h \
	api/store/stored_reading.c api/store/stored_reading.h \
	api/store/slotted.c api/store/slotted.h \
	api/store/store.c \
	api/store/stored.c api/store/stored.h \
	api/train/libraries.c api/train/libraries.h \
	api/train/patch.c \
	api/train/stacks.c api/train/stacks.h \
	api/train/steps.c \
	api/train/train.c api/train/train.h \
	api/train/unwind.c \
	api/train/uprobe.c \
	api/top/counts.c api/top/counts.h \
	api/top/rows.c api/top/rows.h \
	api/top/stored_counts.c api/top/stored_counts.h \
	api/top/top.c \
	api/trees/merge.c \
	api/trees/record.c \
	api/trees/replay.c \
	api/trees/show.c
# To it alone, since a compiler's cache takes the rest for a build with another prefix.
api/runtime.lo: private AM_CPPFLAGS += -DPROGRAM_DIRECTORY='"$(bindir)"' -DPROBE_DIRECTORY='"$(pkglibdir)"'
# The ABI of all three, as libtool counts it (current:revision:age): when something was added, current and age are one more; when something
# was removed or changed, current is one more, age is 0, and Debian's package of the libraries and the name in python/fathom.py change. Revision is 0
# then; one more where nothing of it changed. tests/packages/abi.test tells which it is.
LIBRARY_VERSION = 1:0:0
lib_LTLIBRARIES += libfathom.la
fathomincludedir = $(includedir)
dist_fathominclude_HEADERS = api/fathom.h api/fathom-disambig.h api/fathom-streams.h
fathomtopicsdir = $(includedir)/fathom
dist_fathomtopics_HEADERS = \
	api/fathom/archive.h \
	api/fathom/calls.h \
	api/fathom/common.h \
	api/fathom/contexts.h \
	api/fathom/diff.h \
	api/fathom/doctor.h \
	api/fathom/evaluate.h \
	api/fathom/events.h \
	api/fathom/graph.h \
	api/fathom/here.h \
	api/fathom/live.h \
	api/fathom/map.h \
	api/fathom/record.h \
	api/fathom/report.h \
	api/fathom/resolve.h \
	api/fathom/store.h \
	api/fathom/target.h \
	api/fathom/top.h \
	api/fathom/train.h \
	api/fathom/trees.h \
	api/fathom/watch.h
libfathom_la_SOURCES =
libfathom_la_LIBADD = libapi.la $(PROFILER_LIBS)
libfathom_la_LDFLAGS = $(AM_LDFLAGS) -version-info $(LIBRARY_VERSION) -export-symbols-regex '^fathom_' -Wl,--exclude-libs,libiberty.a

if HAVE_PYTHON
python_PYTHON = python/fathom.py
endif
EXTRA_DIST += docs/library.md examples/crash.c examples/serve.c examples/watch.c

# libfathom-disambig: what the profiler does not need.
noinst_LTLIBRARIES += libapidisambig.la
libapidisambig_la_SOURCES = \
	api/disambig/ambiguity.c \
	api/disambig/disambig.h \
	api/disambig/run.c \
	api/disambig/say.c \
	api/disambig/search.c \
	api/disambig/selftest.c \
	api/disambig/write.c
lib_LTLIBRARIES += libfathom-disambig.la
libfathom_disambig_la_SOURCES =
libfathom_disambig_la_LIBADD = libapidisambig.la libapi.la $(FATHOM_LIBS)
libfathom_disambig_la_LDFLAGS = $(AM_LDFLAGS) -version-info $(LIBRARY_VERSION) -export-symbols-regex '^fathom_(ambiguity|disambig)_' -Wl,--exclude-libs,libiberty.a

# libfathom-streams: traces by duplicated code, and what is hot in them.
noinst_LTLIBRARIES += libapistreams.la
libapistreams_la_SOURCES = \
	api/streams/kinds.c api/streams/kinds.h \
	api/streams/lines.c api/streams/lines.h \
	api/streams/streams.c \
	api/trace/duplicating.c api/trace/duplicating.h \
	api/trace/fit.c \
	api/trace/in_place.c api/trace/in_place.h \
	api/trace/trace.c api/trace/tracing.h
lib_LTLIBRARIES += libfathom-streams.la
libfathom_streams_la_SOURCES =
libfathom_streams_la_LIBADD = libapistreams.la libapi.la $(STREAMS_LIBS)
libfathom_streams_la_LDFLAGS = $(AM_LDFLAGS) -version-info $(LIBRARY_VERSION) -export-symbols-regex '^fathom_(trace|streams)_' -Wl,--exclude-libs,libiberty.a
