/*
 * predictor.h - predicts the phase of the next interval from run lengths: the one that came the last time that this phase had
 * lasted as long (a run-length-encoding Markov predictor: Sherwood, Sair, Calder: Phase Tracking and Prediction, ISCA 2003,
 * section 5; the paper's section 4.1). If that is unknown, the phase continues.
 */
#ifndef FATHOM_PHASES_PREDICTOR_H
#define FATHOM_PHASES_PREDICTOR_H

#include <stdint.h>

struct phase_predictor;

struct phase_predictor *phase_predictor_new(void); /* NULL: out of memory */
void phase_predictor_free(struct phase_predictor *predictor);
/* Takes an interval's phase, and predicts the next one's; 0: out of memory. */
uint32_t phase_predictor_take(struct phase_predictor *predictor, uint32_t phase);

#endif
