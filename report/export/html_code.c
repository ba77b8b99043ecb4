/* html_code.c - the code of the samples, the member `code` of a page's data (read by html/code.js). */
#include "report/export/html_page.h"

#include <errno.h>
#include <string.h>

#include "base/hash.h"

enum { SOURCE_LINE_MOST = 240 /* bytes */ };

/* A source line, cut if it is long; null if unknown. */
static void write_source(struct json *json, const char *text, size_t length)
{
    char line[SOURCE_LINE_MOST + 4];
    size_t shown = length < SOURCE_LINE_MOST ? length : SOURCE_LINE_MOST;
    while (text && shown < length && shown && ((unsigned char)text[shown] & 0xc0) == 0x80)
        shown--; /* in the middle of a character */
    if (text) {
        memcpy(line, text, shown);
        strcpy(line + shown, shown < length ? "..." : "");
        for (size_t i = 0; i < shown; i++)
            line[i] = line[i] == '\t' ? ' ' : line[i];
    }
    json_text(json, NULL, text ? line : NULL);
}

/* [number, text] */
static void write_lines(struct json *json, const struct listed_source *source)
{
    json_array(json, "source");
    for (size_t i = 0; i < source->count; i++) {
        json_array(json, NULL);
        json_number(json, NULL, source->lines[i].number);
        write_source(json, source->lines[i].text, source->lines[i].length);
        json_end(json);
    }
    json_end(json);
}

/* [address, text, origin or null, instructions left out before it] */
static void write_insns(struct json *json, const struct listing *l, const struct listed_function *f)
{
    json_array(json, "insns");
    for (size_t i = f->first; i < f->first + f->count; i++) {
        const struct listed_insn *insn = &l->insns[i];
        char address[24];
        snprintf(address, sizeof address, "%llx", (unsigned long long)insn->address);
        json_array(json, NULL);
        json_text(json, NULL, address);
        json_text(json, NULL, insn->text);
        if (insn->origin == LISTING_NONE)
            json_text(json, NULL, NULL);
        else
            json_number(json, NULL, insn->origin);
        json_number(json, NULL, insn->skipped);
        json_end(json);
    }
    json_end(json);
}

/* The number of a text in `texts`; null if it is NULL. */
static void write_number(struct json *json, struct names *texts, const char *key, const char *text)
{
    uint32_t number = text ? names_intern(texts, text) : NAMES_NONE;
    if (number == NAMES_NONE)
        json_text(json, key, NULL);
    else
        json_number(json, key, number);
    if (text && number == NAMES_NONE)
        json->printer->failed = ENOMEM;
}

static void write_function(struct json *json, const struct listing *l, const struct listed_function *f,
                           struct names *texts)
{
    json_object(json, NULL);
    json_text(json, "name", f->chosen.name);
    json_text(json, "image", image_name(f->chosen.image));
    json_number(json, "first", f->first + 1); /* like `place` of entries */
    json_number(json, "skipped", f->skipped);
    json_number(json, "unread", f->unread);
    json_flag(json, "hasLines", f->has_lines);
    write_number(json, texts, "file", f->file);
    write_lines(json, &f->source);
    write_insns(json, l, f);
    json_end(json);
}

static void write_scripts(struct json *json, const struct html_scripts *s, struct names *texts)
{
    json_array(json, "scripts");
    for (size_t i = 0; i < s->listing->count; i++) {
        const struct listed_script *f = &s->listing->functions[i];
        json_object(json, NULL);
        json_number(json, "frame", s->numbers[f->item]);
        write_number(json, texts, "file", frames_at(s->frames, f->item)->source);
        write_lines(json, &f->source);
        json_end(json);
    }
    json_end(json);
}

/* [file, line, function if it is inlined, text, file and line of the function itself]; files and the function are numbers of texts. */
static void write_origin(struct json *json, const struct listing *l, const struct origin *o,
                         struct names *texts)
{
    size_t length = 0;
    const char *text = listing_source(l, o, &length);
    json_array(json, NULL);
    write_number(json, texts, NULL, o->file);
    json_number(json, NULL, o->line);
    write_number(json, texts, NULL, o->inlined ? o->function : NULL);
    write_source(json, text, length);
    write_number(json, texts, NULL, o->own_file);
    json_number(json, NULL, o->own_line);
    json_end(json);
}

int html_code_write(struct json *json, const struct listing *l, const struct html_scripts *scripts,
                    struct fathom_error *err)
{
    struct names *texts = names_new();
    if (!texts)
        return error_memory(err);
    json_object(json, "code");
    json_number(json, "leftOut", l->left_out + scripts->listing->left_out);
    JSON_LIST(json, "functions", l->function_count, write_function(json, l, &l->functions[i], texts));
    write_scripts(json, scripts, texts);
    JSON_LIST(json, "origins", l->origin_count, write_origin(json, l, &l->origins[i], texts));
    JSON_LIST(json, "texts", names_count(texts), json_text(json, NULL, names_text(texts, i)));
    json_end(json);
    names_free(texts);
    return 0;
}
