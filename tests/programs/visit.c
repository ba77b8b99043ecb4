/* libvisit.so: calls back for each number. */
#include "visit.h"

void visit_each(unsigned count, void (*see)(void *context, unsigned i), void *context)
{
    for (unsigned i = 0; i < count; i++)
        see(context, i);
}
