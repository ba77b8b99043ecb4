/*
 * sources.h - lines of source files, by the names that debug information tells. Private to report/annotate/.
 *
 * Names and contents are untrusted: only regular files are read, once each, with the user's own rights, and none that
 * is larger than SOURCE_BYTES_MOST or has a NUL, nor, by root, one that its mode keeps from others (`/etc/shadow`, in a page that is
 * given away); below a directory that stands in for the root, none outside it. Lines are to be printed as foreign text (text/printer.h).
 */
#ifndef FATHOM_REPORT_ANNOTATE_SOURCES_H
#define FATHOM_REPORT_ANNOTATE_SOURCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#define SOURCE_BYTES_MOST ((size_t)16 << 20)

struct sources;

/* Whether a file of this status may be shown, or archived, if debug information names it. */
bool sources_may_show(const struct stat *status);

/* symfs: the directory that stands in for the root; NULL: none. Borrowed. NULL: out of memory. */
struct sources *sources_new(const char *symfs);
void sources_free(struct sources *sources);
/* The line (from 1 on) without its line break; *length in bytes. NULL: not known, or out of memory. Lives as long as
 * `sources`. */
const char *sources_line(struct sources *sources, const char *file, uint32_t line, size_t *length);

#endif
