/*
 * roll_up.h - makes the roll-ups of closed hours and days (spans.h), in whatever engine. Private to store/.
 *
 * Hours are made of slots, days of hours. Each is made whole, of what the engine has then; it is never added to. What is made already,
 * and clean, is not made again.
 */
#ifndef FATHOM_STORE_ROLL_UP_H
#define FATHOM_STORE_ROLL_UP_H

#include "store/engine.h"

int roll_up(const struct store_engine *engine, void *at, uint64_t from, uint64_t now,
            struct store_rolled *rolled, struct fathom_error *err);

#endif
