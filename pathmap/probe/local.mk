# The probe runtime: loaded into the trained program, so it depends on libc alone.
EXTRA_DIST += pathmap/probe/core.h pathmap/probe/store.h
