
EXTRA_PROGRAMS += bench/repeat_recording
bench_repeat_recording_SOURCES = bench/repeat_recording.c
bench_repeat_recording_LDADD = libperfdata.la libbase.la
