/* d_name.h - names of functions of the D language (https://dlang.org/spec/abi.html#name_mangling). */
#ifndef FATHOM_IMAGE_D_NAME_H
#define FATHOM_IMAGE_D_NAME_H

/* As libiberty demangles them; malloc'd. NULL: it is none, or its text would be too long: a name of 140 bytes may stand for
 * 100 MB. */
char *d_name_demangle(const char *mangled);

#endif
