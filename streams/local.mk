# Bursts of what a program does (Hirzel and Chilimbi), and hot data streams in them. The runtime is loaded into the traced
# program: what duplicated code calls touches no vector register and calls nothing outside of it.
STREAMS_RUNTIME_CFLAGS = -std=gnu17 -fvisibility=hidden $(WARN_CFLAGS) -O2 -mgeneral-regs-only \
	-fno-builtin -fno-exceptions

pkglib_LTLIBRARIES += libfathom-burst.la
libfathom_burst_la_CFLAGS = $(STREAMS_RUNTIME_CFLAGS)
# initfirst: the constructors of all other libraries may be duplicated. now: no symbol is looked up in a check.
libfathom_burst_la_LDFLAGS = -module -avoid-version -shared -no-undefined -Wl,-z,now -Wl,-z,defs -Wl,-z,initfirst
libfathom_burst_la_SOURCES = \
	base/bytes.h \
	base/raw.h \
	streams/runtime/block.h \
	streams/runtime/burst.c \
	streams/runtime/change.S \
	streams/runtime/contexts.c streams/runtime/contexts.h \
	streams/runtime/frames.c streams/runtime/frames.h \
	streams/runtime/grown.c streams/runtime/grown.h \
	streams/runtime/heap.c \
	base/allocator.h base/lock.h \
	streams/runtime/maps.c \
	streams/runtime/process.c streams/runtime/process.h \
	streams/runtime/start.c \
	streams/runtime/writer.c \
	streams/process_wire.h \
	streams/wire.h
# libgcc's shared library has the walk of the stack; one that is linked in would not know of the program's frames that are registered.
libfathom_burst_la_LIBADD = -lgcc_s

noinst_LTLIBRARIES += libstreams.la
libstreams_la_SOURCES = \
	streams/found.c streams/found.h \
	streams/hot.c streams/hot.h \
	streams/rules.c streams/rules.h \
	streams/scan.c streams/scan.h \
	streams/sequitur.c streams/sequitur.h \
	streams/walks.c streams/walks.h \
	streams/trace/burst_file.c streams/trace/burst_file.h \
	streams/trace/dense.c streams/trace/dense.h \
	streams/trace/directory.c streams/trace/directory.h \
	streams/trace/images.c streams/trace/images.h \
	streams/trace/places.c streams/trace/places.h \
	streams/trace/process_file.c streams/trace/process_file.h \
	streams/trace/site_list.c streams/trace/site_list.h \
	streams/trace/trace.c streams/trace/trace.h
