/* libarchive.h - libarchive(3), loaded when an archive is first written or read (base/library.h). */
#ifndef ARCHIVE_LIBARCHIVE_H
#define ARCHIVE_LIBARCHIVE_H

#include <archive.h>
#include <archive_entry.h>

#include "base/error.h"

/* What is used of it. */
#define LIBARCHIVE_EACH(X)                                                                                   \
    X(archive_entry_filetype)                                                                                \
    X(archive_entry_free)                                                                                    \
    X(archive_entry_hardlink)                                                                                \
    X(archive_entry_new)                                                                                     \
    X(archive_entry_pathname)                                                                                \
    X(archive_entry_set_filetype)                                                                            \
    X(archive_entry_set_pathname)                                                                            \
    X(archive_entry_set_perm)                                                                                \
    X(archive_entry_set_size)                                                                                \
    X(archive_entry_size)                                                                                    \
    X(archive_errno)                                                                                         \
    X(archive_error_string)                                                                                  \
    X(archive_filter_code)                                                                                   \
    X(archive_read_data)                                                                                     \
    X(archive_read_free)                                                                                     \
    X(archive_read_new)                                                                                      \
    X(archive_read_next_header)                                                                              \
    X(archive_read_open_filename)                                                                            \
    X(archive_read_support_filter_gzip)                                                                      \
    X(archive_read_support_filter_xz)                                                                        \
    X(archive_read_support_filter_zstd)                                                                      \
    X(archive_read_support_format_tar)                                                                       \
    X(archive_write_add_filter_zstd)                                                                         \
    X(archive_write_close)                                                                                   \
    X(archive_write_data)                                                                                    \
    X(archive_write_fail)                                                                                    \
    X(archive_write_free)                                                                                    \
    X(archive_write_header)                                                                                  \
    X(archive_write_new)                                                                                     \
    X(archive_write_open_fd)                                                                                 \
    X(archive_write_set_format_pax_restricted)

struct libarchive {
#define LIBARCHIVE_MEMBER(name) __typeof__(name) *name;
    LIBARCHIVE_EACH(LIBARCHIVE_MEMBER)
};
extern struct libarchive la;

/* Loads it. As library_load(). */
int libarchive_load(struct fathom_error *err);

#endif
