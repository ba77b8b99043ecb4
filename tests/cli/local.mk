E2E_TESTS += tests/cli/graph.test tests/cli/house.test tests/cli/man.test

UNIT_TESTS += tests/cli/test_doctor
tests_cli_test_doctor_SOURCES = tests/cli/test_doctor.c tests/cli/files.c tests/cli/files.h cli/doctor/hardware.c cli/doctor/rights.c cli/doctor/rows.c
tests_cli_test_doctor_LDADD = $(FATHOM_LIBS) $(CRITERION_LIBS)

UNIT_TESTS += tests/cli/test_privilege
tests_cli_test_privilege_SOURCES = tests/cli/test_privilege.c cli/privilege.c cli/terminal.c
tests_cli_test_privilege_LDADD = $(FATHOM_LIBS) $(CRITERION_LIBS)

UNIT_TESTS += tests/cli/test_trial
tests_cli_test_trial_SOURCES = tests/cli/test_trial.c tests/cli/files.c tests/cli/files.h cli/doctor/hardware.c cli/doctor/rows.c cli/doctor/trial.c \
	cli/doctor/trial_machine.c cli/doctor/workload.c
tests_cli_test_trial_LDADD = $(FATHOM_LIBS) $(CRITERION_LIBS)
