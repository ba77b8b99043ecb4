/* plugin.so: loaded by dlopen; calls back from a frame of its own size. */
#include "visit.h"

void plugin_run(unsigned count, void (*see)(void *context, unsigned i), void *context)
{
    volatile unsigned char frame[504] = {0};
    for (unsigned i = 0; i < count; i++)
        see(context, i + frame[i % sizeof frame]);
}
