# Programs with known call trees, as any program is built: optimised, no frame pointers, no sanitizers.
test_programs = \
	tests/programs/accesses tests/programs/alloca tests/programs/alternate tests/programs/between tests/programs/callback tests/programs/cleanup tests/programs/cold tests/programs/coroutines \
	tests/programs/bursts tests/programs/deep tests/programs/exceptions tests/programs/faults tests/programs/forks tests/programs/hole tests/programs/jit tests/programs/moved \
	tests/programs/order tests/programs/order_framed tests/programs/orders \
	tests/programs/recursion tests/programs/service tests/programs/clocks tests/programs/containers tests/programs/thread_forks tests/programs/signals tests/programs/tailcall \
	tests/programs/threads tests/programs/storm tests/programs/reload tests/programs/siblings tests/programs/paths tests/programs/pushed tests/programs/stages tests/programs/births tests/programs/touch tests/programs/syscalls
check_PROGRAMS += $(test_programs) tests/programs/libvisit.so tests/programs/plugin.so

# Their call trees are known for these flags, so they stand after the user's CFLAGS too, which automake puts behind a
# program's own. They have no debug information, by which reports would add the functions that are inlined into those of the
# trees: tests of that build programs of their own.
program_flags = -O2 -fomit-frame-pointer -g0
program_cflags = -std=gnu17 $(WARN_CFLAGS) $(CFLAGS) $(program_flags)
tests/programs/$(any): override CFLAGS += $(program_flags)
tests/programs/$(any): override CXXFLAGS += $(program_flags)
tests/programs/order_framed-$(any): override CFLAGS += -fno-omit-frame-pointer
program_link = $(CC) $(program_cflags)
program_library = $(program_link) -shared -Wl,-soname,$(@F)

tests_programs_callback_SOURCES = tests/programs/callback.c tests/programs/program.h tests/programs/visit.h
tests_programs_callback_CFLAGS = $(program_cflags)
tests_programs_callback_LDADD = tests/programs/libvisit.so
tests_programs_callback_LINK = $(program_link) -Wl,-rpath,'$$ORIGIN' -o $@
tests_programs_libvisit_so_SOURCES = tests/programs/visit.c tests/programs/visit.h
tests_programs_libvisit_so_CFLAGS = $(program_cflags) -fPIC
tests_programs_libvisit_so_LINK = $(program_library) -o $@
tests_programs_plugin_so_SOURCES = tests/programs/plugin.c tests/programs/visit.h
tests_programs_plugin_so_CFLAGS = $(program_cflags) -fPIC
tests_programs_plugin_so_LINK = $(program_library) -o $@
tests_programs_exceptions_SOURCES = tests/programs/exceptions.cc tests/programs/program.h
tests_programs_exceptions_CXXFLAGS = $(CXXFLAGS) $(program_flags)
tests_programs_exceptions_LINK = $(CXX) $(CXXFLAGS) $(program_flags) -o $@
tests_programs_between_SOURCES = tests/programs/between.cc tests/programs/program.h tests/programs/visit.h
tests_programs_between_CXXFLAGS = $(CXXFLAGS) $(program_flags)
tests_programs_between_LDADD = tests/programs/libvisit.so
tests_programs_between_LINK = $(CXX) $(CXXFLAGS) $(program_flags) -pthread -Wl,-rpath,'$$ORIGIN' -o $@
tests_programs_cleanup_SOURCES = tests/programs/cleanup.cc tests/programs/program.h
tests_programs_cleanup_CXXFLAGS = $(CXXFLAGS) $(program_flags)
tests_programs_cleanup_LINK = $(CXX) $(CXXFLAGS) $(program_flags) -o $@
tests_programs_containers_SOURCES = tests/programs/containers.cc
tests_programs_containers_CXXFLAGS = $(CXXFLAGS) $(program_flags)
tests_programs_containers_LINK = $(CXX) $(CXXFLAGS) $(program_flags) -o $@
tests_programs_accesses_SOURCES = tests/programs/accesses.c tests/programs/program.h
tests_programs_accesses_CFLAGS = $(program_cflags)
tests_programs_accesses_LINK = $(program_link) -o $@
tests_programs_alloca_SOURCES = tests/programs/alloca.c tests/programs/program.h
tests_programs_alloca_CFLAGS = $(program_cflags)
tests_programs_alloca_LINK = $(program_link) -pthread -o $@
tests_programs_cold_SOURCES = tests/programs/cold.c tests/programs/program.h
tests_programs_cold_CFLAGS = $(program_cflags)
tests_programs_cold_LINK = $(program_link) -pthread -o $@
tests_programs_coroutines_SOURCES = tests/programs/coroutines.c tests/programs/program.h
tests_programs_coroutines_CFLAGS = $(program_cflags)
tests_programs_coroutines_LINK = $(program_link) -pthread -o $@
tests_programs_deep_SOURCES = tests/programs/deep.c tests/programs/program.h
tests_programs_deep_CFLAGS = $(program_cflags)
tests_programs_deep_LINK = $(program_link) -pthread -o $@
tests_programs_alternate_SOURCES = tests/programs/alternate.c tests/programs/program.h
tests_programs_alternate_CFLAGS = $(program_cflags)
tests_programs_alternate_LINK = $(program_link) -pthread -o $@

tests_programs_touch_SOURCES = tests/programs/touch.c tests/programs/fresh_pages.h tests/programs/program.h
tests_programs_touch_CFLAGS = $(program_cflags) -fno-pie
tests_programs_touch_LINK = $(program_link) -no-pie -pthread -o $@

tests_programs_syscalls_SOURCES = tests/programs/syscalls.c tests/programs/program.h
tests_programs_syscalls_CFLAGS = $(program_cflags)
tests_programs_syscalls_LINK = $(program_link) -pthread -o $@
tests_programs_faults_SOURCES = tests/programs/faults.c tests/programs/fresh_pages.h tests/programs/program.h
tests_programs_faults_CFLAGS = $(program_cflags)
tests_programs_faults_LINK = $(program_link) -pthread -o $@
tests_programs_hole_SOURCES = tests/programs/hole.c tests/programs/program.h
tests_programs_hole_CFLAGS = $(program_cflags)
tests_programs_hole_LINK = $(program_link) -pthread -o $@
tests_programs_jit_SOURCES = tests/programs/jit.c tests/programs/program.h
tests_programs_jit_CFLAGS = $(program_cflags)
tests_programs_jit_LINK = $(program_link) -pthread -o $@
tests_programs_bursts_SOURCES = tests/programs/bursts.c tests/programs/program.h
tests_programs_bursts_CFLAGS = $(program_cflags)
tests_programs_bursts_LINK = $(program_link) -pthread -o $@
tests_programs_forks_SOURCES = tests/programs/forks.c tests/programs/program.h
tests_programs_forks_CFLAGS = $(program_cflags)
tests_programs_forks_LINK = $(program_link) -pthread -o $@
tests_programs_order_framed_SOURCES = tests/programs/order.c tests/programs/program.h
tests_programs_order_framed_CFLAGS = $(program_cflags) -fno-omit-frame-pointer
tests_programs_order_framed_LINK = $(program_link) -pthread -o $@
tests_programs_order_SOURCES = tests/programs/order.c tests/programs/program.h
tests_programs_order_CFLAGS = $(program_cflags)
tests_programs_order_LINK = $(program_link) -pthread -o $@
tests_programs_orders_SOURCES = tests/programs/orders.c tests/programs/program.h
tests_programs_orders_CFLAGS = $(program_cflags)
tests_programs_orders_LINK = $(program_link) -pthread -o $@
tests_programs_recursion_SOURCES = tests/programs/recursion.c tests/programs/program.h
tests_programs_recursion_CFLAGS = $(program_cflags)
tests_programs_recursion_LINK = $(program_link) -pthread -o $@
tests_programs_service_SOURCES = tests/programs/service.c tests/programs/program.h
tests_programs_service_CFLAGS = $(program_cflags)
tests_programs_service_LINK = $(program_link) -pthread -o $@
tests_programs_signals_SOURCES = tests/programs/signals.c tests/programs/program.h
tests_programs_signals_CFLAGS = $(program_cflags)
tests_programs_signals_LINK = $(program_link) -pthread -o $@
tests_programs_tailcall_SOURCES = tests/programs/tailcall.c tests/programs/program.h
tests_programs_tailcall_CFLAGS = $(program_cflags)
tests_programs_tailcall_LINK = $(program_link) -pthread -o $@
tests_programs_threads_SOURCES = tests/programs/threads.c tests/programs/program.h
tests_programs_threads_CFLAGS = $(program_cflags)
tests_programs_threads_LINK = $(program_link) -pthread -o $@
tests_programs_thread_forks_SOURCES = tests/programs/thread_forks.c tests/programs/program.h
tests_programs_thread_forks_CFLAGS = $(program_cflags)
tests_programs_thread_forks_LINK = $(program_link) -pthread -o $@
tests_programs_clocks_SOURCES = tests/programs/clocks.c tests/programs/program.h
tests_programs_clocks_CFLAGS = $(program_cflags)
tests_programs_clocks_LINK = $(program_link) -pthread -o $@
tests_programs_storm_SOURCES = tests/programs/storm.c tests/programs/program.h
tests_programs_storm_CFLAGS = $(program_cflags)
tests_programs_storm_LINK = $(program_link) -o $@
tests_programs_reload_SOURCES = tests/programs/reload.c tests/programs/program.h tests/programs/visit.h
tests_programs_reload_CFLAGS = $(program_cflags)
tests_programs_reload_LINK = $(program_link) -o $@
tests_programs_siblings_SOURCES = tests/programs/siblings.c tests/programs/program.h tests/programs/visit.h
tests_programs_siblings_CFLAGS = $(program_cflags)
tests_programs_siblings_LINK = $(program_link) -o $@
tests_programs_paths_SOURCES = tests/programs/paths.c tests/programs/program.h
tests_programs_paths_CFLAGS = $(program_cflags)
tests_programs_paths_LINK = $(program_link) -o $@
tests_programs_pushed_SOURCES = tests/programs/pushed.c
tests_programs_pushed_CFLAGS = $(program_cflags)
tests_programs_pushed_LINK = $(program_link) -o $@
tests_programs_stages_SOURCES = tests/programs/stages.c tests/programs/program.h
tests_programs_stages_CFLAGS = $(program_cflags)
tests_programs_stages_LINK = $(program_link) -o $@
tests_programs_births_SOURCES = tests/programs/births.c tests/programs/program.h
tests_programs_births_CFLAGS = $(program_cflags)
tests_programs_births_LINK = $(program_link) -pthread -o $@
