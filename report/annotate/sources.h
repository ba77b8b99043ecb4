/*
 * sources.h - lines of source files, by the file names in debug information. Private to report/annotate/.
 *
 * Names and contents are untrusted. Only regular files are read, once each, with the user's own rights, and only up to
 * SOURCE_BYTES_MOST and without NUL. Root does not read files that others may not read, as a page that is given away could then show
 * `/etc/shadow`. With a symfs, no file outside it is read. Print lines as foreign text (text/printer.h).
 */
#ifndef FATHOM_REPORT_ANNOTATE_SOURCES_H
#define FATHOM_REPORT_ANNOTATE_SOURCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#define SOURCE_BYTES_MOST ((size_t)16 << 20)

struct sources;

/* Whether a file of this status may be shown or archived if debug information names it. */
bool sources_may_show(const struct stat *status);

/* symfs: the directory to use as root; NULL: none; borrowed. Returns NULL: out of memory. */
struct sources *sources_new(const char *symfs);
void sources_free(struct sources *sources);
/* A line (numbered from 1) without its line break; *length in bytes. NULL: unknown, or out of memory. Valid as long as `sources`. */
const char *sources_line(struct sources *sources, const char *file, uint32_t line, size_t *length);

#endif
