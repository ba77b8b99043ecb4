# Each is a shell script that speaks TAP; lib.sh is what they share.
E2E_TESTS +=
EXTRA_DIST += tests/e2e/lib.sh
