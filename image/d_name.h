/* d_name.h - names of functions of the D language (https://dlang.org/spec/abi.html#name_mangling). */
#ifndef FATHOM_IMAGE_D_NAME_H
#define FATHOM_IMAGE_D_NAME_H

/* Demangles a name by libiberty; malloc'd. NULL: not a D name, or its text would be too long: 140 bytes can stand
 * for 100 MB. */
char *d_name_demangle(const char *mangled);

#endif
