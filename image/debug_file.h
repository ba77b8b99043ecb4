/* debug_file.h - finds the separate debug file of a stripped one. Private to image/. */
#ifndef FATHOM_IMAGE_DEBUG_FILE_H
#define FATHOM_IMAGE_DEBUG_FILE_H

#include "image/elf/elf_file.h"
#include "image/image.h"

/* Searches in the order described in image_find.h: by build-id, then by .gnu_debuglink (the rules of gdb,
 * "Debugging Information in Separate Files"). Returns 1 and sets *path (malloc'd, the caller's) and *out if a
 * file was found, whose build has been checked; 0: none; -ENOMEM. An existing file of another build is logged. */
int debug_file_find(const struct elf_file *file, const char *file_path, const struct image_options *options,
                    char **path, struct elf_file *out);
/* The same from a server (debuginfod.h), which may be slow. */
int debug_file_fetch(const struct elf_file *file, const struct image_options *options, char **path,
                     struct elf_file *out);
/* The file into which dwz moved what several debug files share (.gnu_debugaltlink): sets *path (malloc'd, the
 * caller's) as above. file_path: the path of `file`, to which the link is relative. */
int debug_file_shared(const struct elf_file *file, const char *file_path, const struct image_options *options,
                      char **path);

#endif
