/* container.c - see container.h. */
#include "collector/targets/container.h"

#include <errno.h>
#include <fts.h>
#include <stdint.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/json_reader.h"

#define STATE_MAX (16u << 20) /* bytes of a file: podman's has some 2 KB for each container */

/* Names in files --------------------------------------------------------------------------------------------- */

/* Where such a file has a container's ID and names: keys, and how many objects and arrays they are in. A key of NULL: the file's
 * directory is the ID. */
struct form {
    const char *files; /* a pattern, below the root of the file system */
    enum container_file kind;
    unsigned depth; /* of a container */
    const char *id;
    unsigned name_depth;
    const char *names[2];
};

static const struct form forms[] = {
    {"var/lib/docker/containers/*/config.v2.json", CONTAINER_DOCKER, 1, "ID", 1, {"Name"}},
    {"var/lib/containers/storage/*-containers/*containers.json", CONTAINER_PODMAN, 2, "id", 3, {"names"}},
    {"home/*/.local/share/containers/storage/*-containers/*containers.json",
     CONTAINER_PODMAN,
     2,
     "id",
     3,
     {"names"}},
    {"run/containerd/io.containerd.runtime.v2.task/*/*/config.json",
     CONTAINER_CONTAINERD,
     1,
     NULL,
     2,
     {"nerdctl/name", "io.kubernetes.cri.container-name"}},
};

static const struct form *form_of(enum container_file kind)
{
    size_t i = 0;
    while (forms[i].kind != kind)
        i++;
    return &forms[i];
}

static bool is_name_key(const struct form *form, const char *key)
{
    return strcmp(key, form->names[0]) == 0 || (form->names[1] && strcmp(key, form->names[1]) == 0);
}

/* Docker's names begin with a slash. */
static bool is_name(const char *text, const char *name)
{
    return strcmp(text + (*text == '/'), name) == 0;
}

static bool directory_id(const char *path, char id[CONTAINER_ID + 1])
{
    const char *end = strrchr(path, '/');
    if (!end || end - path < CONTAINER_ID || !container_is_id(end - CONTAINER_ID, CONTAINER_ID) ||
        end[-CONTAINER_ID - 1] != '/')
        return false;
    snprintf(id, CONTAINER_ID + 1, "%s", end - CONTAINER_ID);
    return true;
}

bool container_named(enum container_file kind, const char *path, const char *text, size_t size,
                     const char *name, char id[CONTAINER_ID + 1])
{
    const struct form *form = form_of(kind);
    struct json_reader r;
    char key[JSON_READER_TEXT] = "", found[CONTAINER_ID + 1] = "";
    bool named = false;
    enum json_piece piece;
    json_reader_start(&r, text, size);
    while ((piece = json_reader_next(&r)) != JSON_WRONG && piece != JSON_END) {
        if (piece == JSON_KEY)
            memcpy(key, r.text, sizeof key);
        else if (piece == JSON_TEXT && !r.cut && form->id && r.depth == form->depth &&
                 strcmp(key, form->id) == 0 && container_is_id(r.text, strlen(r.text)))
            memcpy(found, r.text, sizeof found);
        else if (piece == JSON_TEXT && !r.cut && r.depth == form->name_depth && is_name_key(form, key))
            named |= is_name(r.text, name);
        if (piece != JSON_CLOSES || r.depth != form->depth - 1)
            continue;
        if (named && (form->id ? *found != 0 : directory_id(path, found))) {
            memcpy(id, found, sizeof found);
            return true;
        }
        named = false;
        *found = 0;
    }
    return false;
}

/* Groups ----------------------------------------------------------------------------------------------------- */

struct search {
    char id[CONTAINER_ID + 1]; /* of the first one found; "": none */
    bool several;              /* with other IDs */
};

/* *path: the outermost directory of the first container whose ID begins like this. */
static int search_groups(const char *root, const char *start, struct search *out, char path[PATH_MAX],
                         struct fathom_error *err)
{
    char *const paths[] = {(char *)(uintptr_t)root, NULL};
    FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    if (!tree)
        return error_system(err, errno, "cannot list the cgroups below %s", root);
    for (const FTSENT *entry; (entry = fts_read(tree));) {
        const char *id = entry->fts_info == FTS_D ? container_id(entry->fts_name, entry->fts_namelen) : NULL;
        if (!id || strncmp(id, start, strlen(start)) != 0)
            continue;
        out->several |= *out->id && strncmp(out->id, id, CONTAINER_ID) != 0;
        if (!*out->id && snprintf(path, PATH_MAX, "%s", entry->fts_path) < PATH_MAX)
            snprintf(out->id, sizeof out->id, "%.*s", CONTAINER_ID, id);
    }
    fts_close(tree);
    return 0;
}

/* Containers with a name. */
struct named {
    const char *root;
    char *path;                   /* group of the first one that runs */
    char runs[CONTAINER_ID + 1];  /* its ID; "": none */
    char other[CONTAINER_ID + 1]; /* ID of one that does not run; "": none */
    bool several;                 /* that run */
};

static int take_named(struct named *n, const char *id, struct fathom_error *err)
{
    struct search found = {0};
    char path[PATH_MAX];
    int rc = search_groups(n->root, id, &found, path, err);
    if (rc)
        return rc;
    if (!*found.id) {
        strcpy(n->other, id);
    } else if (*n->runs) {
        n->several |= strcmp(n->runs, found.id) != 0;
    } else {
        strcpy(n->runs, found.id);
        strcpy(n->path, path);
    }
    return 0;
}

/* Searches the files of one format. */
static int look_up(const struct form *form, const char *state, const char *name, struct named *out,
                   struct fathom_error *err)
{
    char pattern[PATH_MAX], id[CONTAINER_ID + 1];
    glob_t files = {0};
    int rc = 0;
    snprintf(pattern, sizeof pattern, "%s/%s", state, form->files);
    if (glob(pattern, 0, NULL, &files) != 0)
        return 0;
    for (size_t i = 0; i < files.gl_pathc && rc == 0; i++) {
        const char *file = files.gl_pathv[i];
        struct file_view view = {0};
        if (file_view_open(file, &view, NULL) < 0)
            continue;
        if (view.size <= STATE_MAX && file_view_need(&view, 0, view.size, NULL) == 0 &&
            container_named(form->kind, file, (const char *)view.data, view.size, name, id))
            rc = take_named(out, id, err);
        file_view_close(&view);
    }
    globfree(&files);
    return rc;
}

/* Finds a container by the beginning of its ID. 1; 0: there is none. */
static int find_begun(const char *root, const char *start, char path[PATH_MAX], struct fathom_error *err)
{
    struct search found = {0};
    int rc = search_groups(root, start, &found, path, err);
    if (rc == 0 && found.several)
        return error_set(err, EEXIST, "several containers have an ID that begins with %s: give more of it",
                         start);
    return rc < 0 ? rc : *found.id != 0;
}

int container_find(const char *root, const char *state, const char *wanted, char path[PATH_MAX],
                   struct fathom_error *err)
{
    struct named named = {.root = root, .path = path};
    const size_t length = strlen(wanted);
    const bool begins = length && length <= CONTAINER_ID && strspn(wanted, "0123456789abcdef") == length;
    int rc = begins && length == CONTAINER_ID ? find_begun(root, wanted, path, err) : 0;
    if (rc)
        return rc < 0 ? rc : 0;
    for (size_t i = 0; rc == 0 && i < sizeof forms / sizeof *forms; i++)
        rc = look_up(&forms[i], state, wanted, &named, err);
    if (rc == 0 && named.several)
        return error_set(err, EEXIST, "several containers that run are named %s: give the ID of one", wanted);
    if (rc || *named.runs)
        return rc;
    rc = begins ? find_begun(root, wanted, path, err) : 0;
    if (rc)
        return rc < 0 ? rc : 0;
    if (*named.other)
        return error_set(err, ENOENT, "container %s (%.12s) does not run: there is no cgroup of it below %s",
                         wanted, named.other, root);
    return error_set(
        err, ENOENT,
        "no container that runs has this ID or name: %s (docker, podman and containerd were looked "
        "through; --cgroup takes the path of any group)",
        wanted);
}
