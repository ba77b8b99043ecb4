# Walks held against a truth that uses no table.
check_PROGRAMS += tests/oracle/oracle
tests_oracle_oracle_SOURCES = tests/oracle/oracle.c tests/oracle/shadow.c tests/oracle/shadow.h tests/oracle/stepped.c tests/oracle/stepped.h \
	tests/process/maps.c tests/process/maps.h
tests_oracle_oracle_LDADD = libprocess.la libperfdata.la libimage.la libbase.la
E2E_TESTS += tests/oracle/oracle.test
