/*
 * roll_up.h - makes the roll-ups of closed hours and days (spans.h), for any engine. Private to store/. Hours
 * are made from slots, days from hours. Each is made as a whole from what the engine has at the time, and
 * never added to. Clean existing ones are not made again.
 */
#ifndef FATHOM_STORE_ROLL_UP_H
#define FATHOM_STORE_ROLL_UP_H

#include "store/engine.h"

int roll_up(const struct store_engine *engine, void *at, uint64_t from, uint64_t now,
            struct store_rolled *rolled, struct fathom_error *err);

#endif
