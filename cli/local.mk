bin_PROGRAMS += fathom
fathom_SOURCES = cli/main.c
fathom_LDADD = libbase.la
