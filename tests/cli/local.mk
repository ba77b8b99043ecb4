E2E_TESTS += tests/cli/graph.test tests/cli/house.test tests/cli/man.test

UNIT_TESTS += tests/cli/test_privilege
tests_cli_test_privilege_SOURCES = tests/cli/test_privilege.c cli/privilege.c cli/terminal.c
tests_cli_test_privilege_LDADD = $(FATHOM_LIBS) $(CRITERION_LIBS)
