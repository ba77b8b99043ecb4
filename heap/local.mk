# Loaded into the programs of `fathom record --alloc`: it depends on the C library alone.
pkglib_LTLIBRARIES += libfathom-heap.la
libfathom_heap_la_CFLAGS = -std=gnu17 -fvisibility=hidden $(WARN_CFLAGS) -O2 -fno-builtin-malloc -fno-exceptions \
	-ftls-model=initial-exec -fasynchronous-unwind-tables
libfathom_heap_la_LDFLAGS = -module -avoid-version -shared -no-undefined -Wl,-z,now -Wl,-z,defs
libfathom_heap_la_SOURCES = \
	base/allocator.h base/lock.h base/raw.h base/sampling.h \
	heap/mappings.c heap/mappings.h \
	heap/runtime.c \
	heap/sampled.c heap/sampled.h
# Its functions are to be shown as the allocator's, without what is inlined into them.
heap_shown = heap/libfathom_heap_la-runtime.lo
$(heap_shown): private override CFLAGS += -g0
