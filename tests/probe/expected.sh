# The calls of each case of the programs in tests/probe/cases, "TIMES PATH" a line.
# shellcheck shell=sh disable=SC2154

# expect NAME: the calls on standard input.
expect() { sort -k 2 >"$1.expected"; }

expect tail <<END
1 main
1 main;run_tail
5 main;run_tail;tail_end
5 main;run_tail;tail_end;leaf
5 main;run_tail;tail_middle
5 main;run_tail;tail_start
5 main;run_tail;tail_start;leaf
END
expect tail-unoptimised <<END
1 main
1 main;run_tail
5 main;run_tail;tail_start
5 main;run_tail;tail_start;leaf
5 main;run_tail;tail_start;tail_middle
5 main;run_tail;tail_start;tail_middle;tail_end
5 main;run_tail;tail_start;tail_middle;tail_end;leaf
END
expect jump <<END
1 main
1 main;run_jump
4 main;run_jump;after
4 main;run_jump;after;leaf
4 main;run_jump;inner
3 main;run_jump;inner;inner
2 main;run_jump;inner;inner;inner
1 main;run_jump;inner;inner;inner;inner
END
expect coroutines <<END
1 main
1 main;run_coroutines
9 main;run_coroutines;resume
9 main;run_coroutines;resume;leaf
3 main;run_coroutines;start
1 other_routine
1 other_routine;routine
1 other_routine;routine;pass
1 other_routine;routine;pass;leaf
2 routine
5 routine;pass
5 routine;pass;leaf
END
expect sort <<END
1 main
1 main;run_sort
3 main;run_sort;compare
3 main;run_sort;compare;leaf
END
expect arguments <<END
1 main
1 main;run_arguments
1 main;run_arguments;by_memory
1 main;run_arguments;by_memory;leaf
1 main;run_arguments;extended
1 main;run_arguments;extended;leaf
1 main;run_arguments;has_avx
1 main;run_arguments;keep_vector
1 main;run_arguments;keep_vector;leaf
1 main;run_arguments;vary
1 main;run_arguments;vary;leaf
END
expect short <<END
1 main
1 main;run_short
3 main;run_short;behind
3 main;run_short;into_entry
6 main;run_short;into_entry;leaf
3 main;run_short;leaf
3 main;run_short;spins
3 main;run_short;too_short
END
expect deep <<END
1 main
1 main;run_deep
$(awk 'BEGIN { path = "main;run_deep"; while (n++ < 500) print 1, path = path ";down" }')
END

expect fork <<END
1 main
1 main;run_fork
1 main;run_fork;await
2 main;run_fork;before
2 main;run_fork;before;leaf
1 main;run_fork;child
1 main;run_fork;child;await
1 main;run_fork;child;grandchild
1 main;run_fork;child;grandchild;leaf
3 main;run_fork;child;leaf
END
expect vfork <<END
1 main
1 main;run_vfork
2 main;run_vfork;await
1 main;run_vfork;before
1 main;run_vfork;before;leaf
2 main;run_vfork;in_vfork
2 main;run_vfork;in_vfork;leaf
END
expect exec <<END
2 main
1 main;run_exec
1 main;run_exec;anew
1 main;run_exec;anew;leaf
1 main;run_exec;before
1 main;run_exec;before;leaf
1 main;run_fresh
1 main;run_fresh;before
1 main;run_fresh;before;leaf
END
expect vfork-exec <<END
2 main
1 main;run_fresh
1 main;run_fresh;before
1 main;run_fresh;before;leaf
1 main;run_vfork_exec
1 main;run_vfork_exec;anew
1 main;run_vfork_exec;anew;leaf
1 main;run_vfork_exec;await
1 main;run_vfork_exec;before
1 main;run_vfork_exec;before;leaf
END
expect spawn <<END
2 main
1 main;run_fresh
1 main;run_fresh;before
1 main;run_fresh;before;leaf
1 main;run_spawn
1 main;run_spawn;await
2 main;run_spawn;before
2 main;run_spawn;before;leaf
END
expect exit <<END
1 main
1 main;run_exit
1 main;run_exit;deeper
1 main;run_exit;deeper;deeper
1 main;run_exit;deeper;deeper;end
1 main;run_exit;deeper;deeper;end;at_end
1 main;run_exit;deeper;deeper;end;at_end;leaf
1 main;run_exit;deeper;deeper;end;leaf
END
expect return <<END
1 at_end
1 at_end;leaf
1 main
1 main;run_return
1 main;run_return;deeper
1 main;run_return;deeper;deeper
1 main;run_return;deeper;deeper;end
1 main;run_return;deeper;deeper;end;leaf
END
expect quit <<END
1 main
1 main;run_quit
1 main;run_quit;deeper
1 main;run_quit;deeper;deeper
1 main;run_quit;deeper;deeper;end
1 main;run_quit;deeper;deeper;end;leaf
END
expect abort <<END
1 main
1 main;run_abort
1 main;run_abort;deeper
1 main;run_abort;deeper;deeper
1 main;run_abort;deeper;deeper;end
1 main;run_abort;deeper;deeper;end;leaf
1 main;run_abort;deeper;deeper;end;on_abort
1 main;run_abort;deeper;deeper;end;on_abort;leaf
END
expect kill <<END
1 main
1 main;run_kill
1 main;run_kill;deeper
1 main;run_kill;deeper;deeper
1 main;run_kill;deeper;deeper;end
1 main;run_kill;deeper;deeper;end;leaf
END

expect ends <<END
2 cancelled
2 cancelled;await_the_end
2 cancelled;await_the_end;await_the_end
2 cancelled;await_the_end;await_the_end;await_the_end
2 cancelled;clean
2 cancelled;clean;leaf
4 forget
4 forget;leaf
1 main
1 main;run_ends
6 main;run_ends;join
2 quits
2 quits;clean
2 quits;clean;leaf
2 quits;quit
2 quits;quit;quit
2 quits;quit;quit;quit
2 returns
2 returns;leaf
END
expect many <<END
200 brief
200 brief;leaf
1 main
1 main;run_many
200 main;run_many;join
END
expect main-first <<END
1 last
1 last;join
1 last;leaf
1 main
1 main;run_main_first
1 main;run_main_first;quit
1 main;run_main_first;quit;quit
END

expect wanders <<END
1 main
1 main;run_wanders
2 main;run_wanders;join
3 main;run_wanders;resume
3 main;run_wanders;resume;leaf
2 resume
2 resume;leaf
1 routine
1 routine;leaf
4 routine;part
4 routine;part;pass
4 routine;part;pass;leaf
END
expect fork-thread <<END
1 forker
1 forker;in_child
1 forker;in_child;in_child
1 forker;in_child;in_child;leaf
1 forker;in_child;leaf
1 forker;leaf
1 main
1 main;run_fork_thread
1 main;run_fork_thread;join
END
expect exec-thread <<END
200 brief
200 brief;leaf
2 main
1 main;run_exec_thread
1 main;run_exec_thread;join
1 main;run_many
200 main;run_many;join
1 replacer
1 replacer;leaf
END

expect normal <<END
1 main
1 main;run_normal
2 main;run_normal;handle
4 main;run_normal;send
4 main;run_normal;send;leaf
1 main;run_normal;send;on_nesting
1 main;run_normal;send;on_nesting;leaf
1 main;run_normal;send;on_nesting;send
1 main;run_normal;send;on_nesting;send;leaf
1 main;run_normal;send;on_nesting;send;on_simple
1 main;run_normal;send;on_nesting;send;on_simple;leaf
1 main;run_normal;send;on_nesting;send;on_simple;trapped
1 main;run_normal;send;on_nesting;send;on_simple;trapped;leaf
3 main;run_normal;send;on_simple
3 main;run_normal;send;on_simple;leaf
3 main;run_normal;send;on_simple;trapped
3 main;run_normal;send;on_simple;trapped;leaf
END
expect alternate <<END
1 main
1 main;run_alternate
2 main;run_alternate;handle
4 main;run_alternate;send
4 main;run_alternate;send;leaf
1 main;run_alternate;use_alternate
1 on_nesting
1 on_nesting;leaf
1 on_nesting;send
1 on_nesting;send;leaf
1 on_nesting;send;on_simple
1 on_nesting;send;on_simple;leaf
1 on_nesting;send;on_simple;trapped
1 on_nesting;send;on_simple;trapped;leaf
3 on_simple
3 on_simple;leaf
3 on_simple;trapped
3 on_simple;trapped;leaf
END
expect signal-jump <<END
1 main
1 main;run_signal_jump
1 main;run_signal_jump;handle
3 main;run_signal_jump;send
3 main;run_signal_jump;send;on_jump
3 main;run_signal_jump;send;on_jump;leaf
3 main;run_signal_jump;trapped
3 main;run_signal_jump;trapped;leaf
END
expect signal-jump-alternate <<END
1 main
1 main;run_signal_jump
1 main;run_signal_jump;handle
3 main;run_signal_jump;send
3 main;run_signal_jump;trapped
3 main;run_signal_jump;trapped;leaf
1 main;run_signal_jump;use_alternate
3 on_jump
3 on_jump;leaf
END
expect trap <<END
1 main
1 main;run_trap
1 main;run_trap;handle
4 main;run_trap;on_trap
4 main;run_trap;on_trap;trapped
4 main;run_trap;on_trap;trapped;leaf
3 main;run_trap;trapped
3 main;run_trap;trapped;leaf
END
expect blocked <<END
1 main
1 main;run_blocked
2 main;run_blocked;send
2 main;run_blocked;send;leaf
1 main;run_blocked;send;on_simple
1 main;run_blocked;send;on_simple;leaf
1 main;run_blocked;send;on_simple;trapped
1 main;run_blocked;send;on_simple;trapped;leaf
2 main;run_blocked;trapped
4 main;run_blocked;trapped;leaf
END

expect throw <<END
1 main
1 main;run_throw
4 main;run_throw;catcher
3 main;run_throw;catcher;after
3 main;run_throw;catcher;after;leaf
4 main;run_throw;catcher;guarded
4 main;run_throw;catcher;guarded;clean
4 main;run_throw;catcher;guarded;clean;leaf
4 main;run_throw;catcher;guarded;guarded
4 main;run_throw;catcher;guarded;guarded;clean
4 main;run_throw;catcher;guarded;guarded;clean;leaf
3 main;run_throw;catcher;guarded;guarded;guarded
3 main;run_throw;catcher;guarded;guarded;guarded;clean
3 main;run_throw;catcher;guarded;guarded;guarded;clean;leaf
3 main;run_throw;catcher;guarded;guarded;guarded;thrower
3 main;run_throw;catcher;guarded;guarded;guarded;thrower;leaf
1 main;run_throw;catcher;guarded;guarded;thrower
1 main;run_throw;catcher;guarded;guarded;thrower;leaf
1 main;run_throw;leaf
END
expect again <<END
1 main
1 main;run_again
1 main;run_again;after
1 main;run_again;after;leaf
2 main;run_again;again
2 main;run_again;again;after
2 main;run_again;again;after;leaf
2 main;run_again;again;guarded
2 main;run_again;again;guarded;clean
2 main;run_again;again;guarded;clean;leaf
2 main;run_again;again;guarded;thrower
2 main;run_again;again;guarded;thrower;leaf
1 main;run_again;leaf
END
expect threads <<END
1 main
1 main;run_threads
1 main;run_threads;land
1 main;run_threads;land;after
1 main;run_threads;land;after;leaf
3 worker
1 worker;carry
1 worker;carry;thrower
1 worker;carry;thrower;leaf
100 worker;catcher
100 worker;catcher;after
100 worker;catcher;after;leaf
100 worker;catcher;guarded
100 worker;catcher;guarded;clean
100 worker;catcher;guarded;clean;leaf
100 worker;catcher;guarded;guarded
100 worker;catcher;guarded;guarded;clean
100 worker;catcher;guarded;guarded;clean;leaf
100 worker;catcher;guarded;guarded;thrower
100 worker;catcher;guarded;guarded;thrower;leaf
END
expect opens <<END
1 main
1 main;run_opens
3 main;run_opens;use
3 main;run_opens;use;plugin_end
3 main;run_opens;use;plugin_end;plugin_part
3 main;run_opens;use;plugin_run
6 main;run_opens;use;plugin_run;answer
3 main;run_opens;use;plugin_start
3 main;run_opens;use;plugin_start;plugin_part
END

# all_cases OPTIMISED: each case in the programs of $build; optimised (yes or no), calls at a function's end are jumps.
all_cases()
{
    case $1 in
    yes) has_calls tail 0 case_flow tail ;;
    *) has_calls tail-unoptimised 0 case_flow tail ;;
    esac
    for case in jump coroutines sort arguments short; do
        has_calls $case 0 case_flow $case
    done
    has_calls deep 0 case_flow deep 500
    for case in fork vfork exec vfork-exec spawn return; do
        has_calls $case 0 case_processes $case
    done
    has_calls exit 7 case_processes exit
    has_calls quit 8 case_processes quit
    has_calls abort 134 case_processes abort
    has_calls kill 137 case_processes kill
    for case in ends many main-first wanders fork-thread exec-thread; do
        has_calls $case 0 case_threads $case
    done
    for case in normal alternate signal-jump trap blocked; do
        has_calls $case 0 case_signals $case
    done
    has_calls signal-jump-alternate 0 case_signals signal-jump alternate
    [ ! -e "$build/case_plugin.so" ] || has_calls opens 0 case_opens opens "./$build/case_plugin.so"
    [ -x "$build/case_throws" ] || return
    for case in throw again threads; do
        has_calls $case 0 case_throws $case
    done
}
