/* debug_file.h - finds the separate debug file of a stripped one. Private to image/. */
#ifndef FATHOM_IMAGE_DEBUG_FILE_H
#define FATHOM_IMAGE_DEBUG_FILE_H

#include "image/elf/elf_file.h"
#include "image/image.h"

/* By build-id, then by .gnu_debuglink (the rules of gdb, "Debugging Information in Separate Files"). When one
 * is found, *path (malloc'd, the caller's) and *out are set and it is known to be of the same build. Returns
 * 1: found, 0: none, -ENOMEM. A file that is there and of another build is told to the log. */
int debug_file_find(const struct elf_file *file, const char *file_path, const struct image_options *options,
                    char **path, struct elf_file *out);
/* The same from a server (debuginfod.h), which may take its time. */
int debug_file_fetch(const struct elf_file *file, const struct image_options *options, char **path,
                     struct elf_file *out);
/* The file that dwz made of what several debug files have in common (.gnu_debugaltlink): *path (malloc'd, the
 * caller's) as above. file_path: where `file` lies, from which the link counts. */
int debug_file_shared(const struct elf_file *file, const char *file_path, const struct image_options *options,
                      char **path);

#endif
