#include "api/store/push.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/report/options.h"
#include "base/checksum.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/text.h"
#include "report/export/json.h"
#include "report/export/otlp.pb-c.h"
#include "report/format.h"
#include "store/gathering.h"
#include "store/http_client.h"

/* A message to a server, or a part of one; `data` is the caller's to free. */
struct message {
    char *data;
    size_t size;
};

struct receiver {
    const char *scheme;
    const char *target, *type;
    const char *format; /* of the profile */
    bool wrapped;       /* the message is a request with the profile; else it is the profile */
    bool nested;        /* the labels are in an object of it */
    /* Explains what is wrong with an answer of the right type; "": nothing. */
    void (*judge)(const struct http_answer *answer, char told[HTTP_TOLD_MOST]);
};

struct push {
    const struct receiver *receiver;
    struct http_client *client;
    const struct format *format;
};

/* Messages -------------------------------------------------------------------------------------------------------- */

struct label {
    const char *name, *value;
};

static void write_labels(struct json *json, const struct label *labels, size_t count)
{
    json_array(json, "labels");
    for (size_t i = 0; i < count; i++) {
        if (!*labels[i].value)
            continue;
        json_object(json, NULL);
        json_text(json, "name", labels[i].name);
        json_text(json, "value", labels[i].value);
        json_end(json);
    }
    json_end(json);
}

/* Base 64 with padding (RFC 4648, section 4); the caller frees it. NULL: out of memory. */
static char *encode_base64(const void *data, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const uint8_t *from = data;
    char *text = size < SIZE_MAX / 2 ? malloc(size / 3 * 4 + 5) : NULL, *to = text;
    if (!text)
        return NULL;
    for (size_t i = 0; i < size; i += 3) {
        const size_t left = size - i < 3 ? size - i : 3;
        uint8_t three[3] = {0};
        memcpy(three, from + i, left);
        const uint32_t bits = (uint32_t)three[0] << 16 | (uint32_t)three[1] << 8 | three[2];
        for (size_t d = 0; d < 4; d++)
            *to++ = d <= left ? digits[bits >> (18 - 6 * d) & 63] : '=';
    }
    *to = '\0';
    return text;
}

/* Makes a request with one series of one profile. */
static int wrap_profile(const struct store_key *key, const char *name, const struct message *profile,
                        bool nested, struct message *out, struct fathom_error *err)
{
    const struct label labels[] = {{"__name__", name},
                                   {"service_name", key->service},
                                   {"event", key->event},
                                   {"host", key->host},
                                   {"build_id", key->build}};
    char *coded = encode_base64(profile->data, profile->size);
    FILE *stream = coded ? open_memstream(&out->data, &out->size) : NULL;
    struct printer printer = {.out = stream};
    struct json json = {.printer = &printer};
    if (!stream) {
        free(coded);
        return error_memory(err);
    }
    json_object(&json, NULL);
    json_array(&json, "series");
    json_object(&json, NULL);
    if (nested)
        json_object(&json, "labels");
    write_labels(&json, labels, sizeof labels / sizeof *labels);
    if (nested)
        json_end(&json);
    json_array(&json, "samples");
    json_object(&json, NULL);
    json_text(&json, "rawProfile", coded);
    json_end(&json);
    json_end(&json);
    json_end(&json);
    json_end(&json);
    if (nested)
        json_flag(&json, "normalized", true); /* addresses are relative to the files */
    json_end(&json);
    int rc = printer_finish(&printer, err);
    free(coded);
    return fclose(stream) == 0 || rc < 0 ? rc : error_memory(err);
}

/* PushResponse and WriteRawResponse are "{}". An object with fields may be the error of another server. */
static void judge_json(const struct http_answer *answer, char told[HTTP_TOLD_MOST])
{
    static const char blank[] = " \t\r\n";
    const char *at = (const char *)answer->data + strspn((const char *)answer->data, blank);
    bool good = *at == '{';
    at += good + strspn(at + good, blank);
    good &= *at == '}';
    at += good + strspn(at + good, blank);
    good &= at == (const char *)answer->data + answer->size;
    *told = '\0';
    if (!good)
        snprintf(told, HTTP_TOLD_MOST, "it did not acknowledge the profile, but answered: %.200s",
                 (const char *)answer->data);
}

/* An empty answer is valid: opentelemetry.io/docs/specs/otlp, "OTLP/HTTP Response". */
static void judge_otlp(const struct http_answer *answer, char told[HTTP_TOLD_MOST])
{
    Fathom__Otlp__Response *r = fathom__otlp__response__unpack(NULL, answer->size, answer->data);
    const Fathom__Otlp__PartialSuccess *partial = r ? r->partial_success : NULL;
    snprintf(told, HTTP_TOLD_MOST, r ? "" : "it did not acknowledge the profile: its answer is damaged");
    if (partial && partial->rejected_profiles)
        snprintf(told, HTTP_TOLD_MOST, "it rejected %lld profiles: %.200s",
                 (long long)partial->rejected_profiles, partial->error_message);
    if (r)
        fathom__otlp__response__free_unpacked(r, NULL);
}

static const struct receiver receivers[] = {
    {"pyroscope", "push.v1.PusherService/Push", "application/json", "pprof", true, false, judge_json},
    {"parca", "profiles/writeraw", "application/json", "pprof", true, true, judge_json},
    {"otlp", "v1development/profiles", "application/x-protobuf", "otlp", false, false, judge_otlp},
};

/* Removes the scheme from *url. NULL: another scheme. */
static const struct receiver *find_receiver(const char **url)
{
    for (size_t i = 0; i < sizeof receivers / sizeof *receivers; i++) {
        const size_t length = strlen(receivers[i].scheme);
        if (strncmp(*url, receivers[i].scheme, length) != 0)
            continue;
        const char *after = *url + length;
        if (strncmp(after, "+http://", 8) == 0 || strncmp(after, "+https://", 9) == 0) {
            *url = after + 1;
            return &receivers[i];
        }
    }
    return NULL;
}

bool push_is(const char *url)
{
    return find_receiver(&url) != NULL;
}

/* Opening --------------------------------------------------------------------------------------------------------- */

int push_open(const char *url, const char *credentials, struct push **out, struct fathom_error *err)
{
    struct push *p = calloc(1, sizeof *p);
    char *base = NULL;
    if (!p)
        return error_memory(err);
    p->receiver = find_receiver(&url);
    p->format = report_word_find("format", format_table, sizeof *p->format, p->receiver->format, err);
    const size_t length = strlen(url);
    int rc = asprintf(&base, "%s%s", url, url[length - 1] == '/' ? "" : "/") < 0 ? error_memory(err) : 0;
    if (rc == 0)
        rc = http_client_new(base, strlen(base), credentials, &p->client, err);
    free(base);
    if (rc < 0)
        push_close(p);
    else
        *out = p;
    return rc;
}

uint64_t push_sent(const struct push *p)
{
    return http_client_sent(p->client);
}

void push_close(struct push *p)
{
    if (!p)
        return;
    http_client_free(p->client);
    free(p);
}

/* Sending --------------------------------------------------------------------------------------------------------- */

/* Waits and the durations of calls are in ns too, but are not CPU time. */
static bool is_cpu(const struct store_batch *batch)
{
    const char *event = batch->key.event;
    return strcmp(batch->unit, "ns") == 0 &&
           (strncmp(event, "cpu-clock", 9) == 0 || strncmp(event, "task-clock", 10) == 0);
}

/* The name for Pyroscope and Parca: all profilers call CPU time "process_cpu"; else the event's name, with only the characters they accept. */
static void name_metric(const struct store_batch *batch, char out[64])
{
    snprintf(out, 64, "%s", is_cpu(batch) ? "process_cpu" : batch->key.event);
    for (char *at = out; *at; at++)
        if (!(*at >= 'a' && *at <= 'z') && !(*at >= 'A' && *at <= 'Z') && !(*at >= '0' && *at <= '9'))
            *at = '_';
}

static uint64_t batch_id(const struct store_key *k)
{
    const char *const texts[] = {k->service, k->event, k->host, k->build};
    uint64_t id = hash_u64(k->slot + hash_u64(k->sequence));
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        id = hash_u64(id + checksum_of(texts[i], strlen(texts[i])));
    return id ? id : 1;
}

/* Writes the contexts as a report. Other tools call CPU time "cpu". */
static int write_profile(const struct format *format, const struct store_batch *batch,
                         const struct contexts *from, FILE *out, struct fathom_error *err)
{
    const struct store_key *k = &batch->key;
    const struct metric weight = {.name = is_cpu(batch) ? "cpu" : k->event, .unit = batch->unit};
    const struct metrics metrics = {.at = {&weight, from->metrics->at[1]}, .count = 2};
    struct contexts contexts = *from;
    const struct view_resource resource = {.service = k->service,
                                           .host = k->host,
                                           .build = k->build,
                                           .from = k->slot * SECOND_NS,
                                           .until = (k->slot + STORE_SLOT) * SECOND_NS,
                                           .id = batch_id(k)};
    const struct view_heading heading = {.event = k->event, .resource = &resource};
    const struct view_options view = {.unit = batch->unit};
    const struct report report = {.contexts = &contexts, .heading = &heading, .view = &view};
    contexts.metrics = &metrics;
    return format->write(&report, out, err);
}

static int make_profile(const struct push *p, struct dictionary *dictionary, const struct store_batch *batch,
                        struct message *out, struct fathom_error *err)
{
    struct gathering *g = gathering_new(0);
    struct contexts contexts;
    FILE *stream = open_memstream(&out->data, &out->size);
    int rc = g && stream ? gathering_add(g, batch, err) : error_memory(err);
    if (rc == 0)
        rc = gathering_contexts(g, NULL, dictionary, NULL, &contexts, err);
    if (rc == 0)
        rc = write_profile(p->format, batch, &contexts, stream, err);
    gathering_free(g);
    return stream && fclose(stream) != 0 && rc == 0 ? error_memory(err) : rc;
}

/* Explains what is wrong with an answer; "": it acknowledges everything. Login pages have status 200 too. */
static void judge_answer(const struct receiver *r, const struct http_answer *answer,
                         char told[HTTP_TOLD_MOST])
{
    const char *text = (const char *)answer->data;
    if (*answer->elsewhere)
        snprintf(told, HTTP_TOLD_MOST, "HTTP %ld: it redirects to %.200s, which is not followed",
                 answer->status, answer->elsewhere);
    else if (answer->status != 200)
        snprintf(told, HTTP_TOLD_MOST, "HTTP %ld%s%.200s", answer->status, *text ? ": " : "", text);
    else if (!http_answer_is(answer, r->type))
        snprintf(told, HTTP_TOLD_MOST, "it did not acknowledge the profile: it answered with %.64s, not %s",
                 *answer->type ? answer->type : "no Content-Type", r->type);
    else
        r->judge(answer, told);
}

static int send_message(struct push *p, const struct message *m, struct fathom_error *err)
{
    const struct receiver *r = p->receiver;
    const struct http_request request = {r->target,  r->type, m->data, m->size, HTTP_SENT_ANSWER_MOST,
                                         HTTP_SEND_S};
    struct http_answer answer;
    char told[HTTP_TOLD_MOST];
    int rc = http_client_post(p->client, &request, &answer, err);
    if (rc < 0)
        return rc;
    const bool denied = answer.status == 401 || answer.status == 403;
    judge_answer(r, &answer, told);
    if (!*told)
        return 0;
    text_clean(told);
    return error_set(err, denied ? EACCES : EIO, "%s%s: %s%s", http_client_url(p->client), r->target, told,
                     denied ? " (--credentials FILE)" : "");
}

int push_batches(struct push *p, struct dictionary *dictionary, const struct store_batch *batches,
                 size_t count, struct fathom_error *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < count; i++) {
        struct message profile = {0}, wrapped = {0};
        char name[64];
        name_metric(&batches[i], name);
        rc = make_profile(p, dictionary, &batches[i], &profile, err);
        if (rc == 0 && p->receiver->wrapped)
            rc = wrap_profile(&batches[i].key, name, &profile, p->receiver->nested, &wrapped, err);
        if (rc == 0)
            rc = send_message(p, p->receiver->wrapped ? &wrapped : &profile, err);
        free(profile.data);
        free(wrapped.data);
    }
    return rc;
}
