/* doctor_show.h - what `fathom doctor` found out, as text. */
#ifndef FATHOM_CLI_DOCTOR_SHOW_H
#define FATHOM_CLI_DOCTOR_SHOW_H

#include "api/fathom.h"

/* Prints findings on standard output. */
void doctor_show(const struct fathom_finding *findings, size_t count, bool colour);

#endif
