# The GCC plugin that makes frames larger. It runs in the compiler: no sanitizers, no exceptions, and GCC's own headers, whose
# faults are not ours (-isystem).
if GCC_PLUGIN
pkglib_LTLIBRARIES += fathom_pads.la
endif
fathom_pads_la_CPPFLAGS = -I$(top_srcdir) $(GCC_PLUGIN_CPPFLAGS)
fathom_pads_la_CXXFLAGS = -std=gnu++14 -fno-rtti -fno-exceptions $(WARN_CXXFLAGS)
fathom_pads_la_LDFLAGS = -module -avoid-version -shared
fathom_pads_la_LIBTOOLFLAGS = --tag=disable-static
fathom_pads_la_SOURCES = disambig/plugin/fathom_pads.cc disambig/plugin/pad_list.cc disambig/plugin/pad_list.h
