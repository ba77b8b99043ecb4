/*
 * pad_list.h - the list of pads passed to the plugin: which function's frame grows by how many bytes.
 *
 * docs/pads.md has the format. A line's key is a symbol's name, or "name@file" for a static function that shares
 * its name with others, where file is the name of its source in the object file's symbol table (STT_FILE).
 */
#ifndef FATHOM_DISAMBIG_PLUGIN_PAD_LIST_H
#define FATHOM_DISAMBIG_PLUGIN_PAD_LIST_H

#include <gcc-plugin.h>
#include <hash-map.h>

/* GCC refuses frames of more than 2 GB; this leaves room for the rest of the frame. */
const int PAD_MOST = 1 << 30;

struct pad_line {
    int bytes;     /* a multiple of 16, at most PAD_MOST; 0: not padded */
    unsigned line; /* in the file, for messages */
    bool used;     /* a function of this compilation has used it */
};

struct pad_list {
    const char *file;      /* its name, as given */
    auto_vec<char *> keys; /* in the order of the lines; they live until the compiler exits */
    hash_map<nofree_string_hash, pad_line> lines; /* by key */
};

/* Reads list->file; false after errors, which were reported through GCC's diagnostics. */
bool pad_list_read(pad_list *list);

/*
 * The line for the symbol NAME when the source is SOURCE (STT_FILE): "NAME@SOURCE" if there is one, else
 * "NAME". NULL: no line. Valid until the list changes.
 */
pad_line *pad_list_find(pad_list *list, const char *name, const char *source);

/*
 * The file that the key names ("name@file"), or NULL. Symbols with a version in their name ("name@V") are not
 * in lists.
 */
const char *pad_key_source(const char *key);

#endif
