/* case_plugin.c - a shared object that case_opens.c opens and closes. */
#include "tests/programs/program.h"

void plugin_start(void), plugin_end(void);
int plugin_run(int (*call_back)(int), int n);

KNOWN void plugin_part(void)
{
    CALLED();
}

__attribute__((constructor)) void plugin_start(void)
{
    plugin_part();
    CALLED();
}

__attribute__((destructor)) void plugin_end(void)
{
    plugin_part();
    CALLED();
}

int plugin_run(int (*call_back)(int), int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += call_back(i);
    CALLED();
    return sum;
}
