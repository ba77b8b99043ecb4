/* events.c - see events.h. */
#include "cli/events.h"

#include <stdio.h>
#include <string.h>

#include "cli/exit.h"
#include "collector/events/event_list.h"

static void print_event(void *context, const struct listed_event *event)
{
    char *group = context; /* of the previous event */
    if (strcmp(group, event->group) != 0) {
        printf("%s%s:\n", *group ? "\n" : "", event->group);
        snprintf(group, 64, "%.63s", event->group);
    }
    printf("  %-32s %s\n", event->name, event->description);
}

int events_print(void)
{
    char group[64] = "";
    event_list(print_event, group);
    long tracepoints = event_list_tracepoints();
    if (tracepoints >= 0)
        printf("\ntracepoints:\n  SYSTEM:NAME                      %ld, listed in "
               "/sys/kernel/tracing/available_events\n",
               tracepoints);
    else
        puts("\ntracepoints:\n  SYSTEM:NAME                      /sys/kernel/tracing/available_events "
             "lists them to those who may read it (root)");
    puts("\nbreakpoints:\n  mem:ADDRESS[/LENGTH][:rwx]       accesses to an address");
    return EXIT_OK;
}
