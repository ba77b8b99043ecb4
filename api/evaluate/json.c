/* json.c - the results of an evaluation as JSON (fathom-evaluate(1) documents the members). */
#include "api/evaluate/evaluating.h"
#include "report/export/json.h"

/* Weights are whole numbers, except where a truth map is ambiguous. */
#define WEIGHT_DECIMALS 0

const char *const category_names[CATEGORIES] = {"precise", "ambiguous", "incorrect", "missing"};

static void write_tally(struct json *json, const char *key, const struct tally *tally)
{
    json_object(json, key);
    json_number(json, "paths", tally->paths);
    json_real(json, "weight", tally->weight, WEIGHT_DECIMALS);
    json_end(json);
}

/* The weight with such an answer, and how much of it is right. */
static void write_answers(struct json *json, const char *key, double weight, double right)
{
    json_object(json, key);
    json_real(json, "weight", weight, WEIGHT_DECIMALS);
    json_real(json, "right", right, WEIGHT_DECIMALS);
    json_end(json);
}

static void write_figures(struct json *json, const struct score *s)
{
    for (unsigned i = 0; i < CATEGORIES; i++)
        write_tally(json, category_names[i], &s->category[i]);
    write_tally(json, "right", &s->right);
    write_tally(json, "right_covered", &s->right_covered);
    write_tally(json, "all", &s->all);
    write_answers(json, "called_precise", s->called_precise.weight, s->called_precise.right);
    write_answers(json, "proved", s->proved.weight, s->proved.right);
    json_real(json, "right_frames", s->right_frames, WEIGHT_DECIMALS);
    json_real(json, "said", s->said, WEIGHT_DECIMALS);
    json_real(json, "said_least", s->said_least, WEIGHT_DECIMALS);
    json_real(json, "said_most", s->said_most, WEIGHT_DECIMALS);
    json_real(json, "calibration_error", s->calibration_error, 6);
}

static void write_degrees(struct json *json, const struct score *s)
{
    json_array(json, "degree");
    for (unsigned k = 1; k <= DEGREES; k++) {
        json_object(json, NULL);
        json_number(json, "at_most", k);
        json_number(json, "paths", s->within[k - 1].paths);
        json_real(json, "weight", s->within[k - 1].weight, WEIGHT_DECIMALS);
        json_end(json);
    }
    json_end(json);
}

static void write_calibration(struct json *json, const struct score *s)
{
    json_array(json, "calibration");
    for (unsigned i = 0; i < BINS; i++) {
        json_object(json, NULL);
        json_real(json, "from", (double)i / BINS, 1);
        json_real(json, "to", (double)(i + 1) / BINS, 1);
        json_real(json, "weight", s->bins[i].weight, WEIGHT_DECIMALS);
        json_real(json, "right", s->bins[i].right, WEIGHT_DECIMALS);
        json_real(json, "said", s->bins[i].said, WEIGHT_DECIMALS);
        json_end(json);
    }
    json_end(json);
}

/* As write_part() of text.c. */
static void write_part(struct json *json, const struct score *s)
{
    if (s->derived > 0)
        json_real(json, "derived_weight", s->derived, WEIGHT_DECIMALS);
    if (s->part.weight <= 0)
        return;
    json_object(json, "part");
    json_real(json, "weight", s->part.weight, WEIGHT_DECIMALS);
    json_real(json, "answered", s->part.answered, WEIGHT_DECIMALS);
    json_real(json, "right", s->part.right, WEIGHT_DECIMALS);
    json_real(json, "frames", s->part.frames / s->part.weight, 2);
    json_end(json);
}

static void write_no_truth(struct json *json, const struct score *s)
{
    json_array(json, "no_truth");
    for (unsigned i = 0; i < NO_TRUTHS; i++) {
        if (s->no_truth[i] <= 0)
            continue;
        json_object(json, NULL);
        json_text(json, "reason", no_truth_text(i));
        json_real(json, "weight", s->no_truth[i], WEIGHT_DECIMALS);
        json_end(json);
    }
    json_end(json);
}

static void write_stages(struct json *json, const struct evaluate_result *result)
{
    json_array(json, "stages");
    for (unsigned i = 0; i < result->stage_count; i++) {
        json_object(json, NULL);
        json_text(json, "name", result->stages[i].name);
        write_figures(json, &result->stages[i].score);
        json_end(json);
    }
    json_end(json);
}

static void write_path(struct json *json, const char *key, const struct named_path *path)
{
    json_array(json, key);
    for (size_t i = 0; i < path->depth; i++) {
        if (path->frames[i].function != NOT_COMPARED)
            json_text(json, NULL, path->frames[i].name);
    }
    json_end(json);
}

static int write_wrong(struct json *json, const struct evaluate_result *result, struct fathom_error *err)
{
    int rc = 0;
    json_array(json, "wrong");
    for (size_t i = 0; rc == 0 && i < result->wrong_count; i++) {
        const struct verdict *v = &result->wrong[i];
        struct named_path truth, answer;
        rc = path_names_truth(result->names, v->truth, &truth, err);
        if (rc == 0)
            rc = path_names_answer(result->names, v->node, &answer, err);
        if (rc < 0)
            break;
        json_object(json, NULL);
        json_real(json, "weight", v->weight, WEIGHT_DECIMALS);
        json_number(json, "samples", v->samples);
        json_text(json, "category", category_names[v->category]);
        json_text(json, "reason", v->reason == UNKNOWN_NOT ? NULL : unknown_reason_text(v->reason));
        json_number(json, "height", v->cid.height);
        json_number(json, "paths", v->paths);
        json_real(json, "said", v->said, WEIGHT_DECIMALS);
        write_path(json, "truth", &truth);
        write_path(json, "inferred", &answer);
        json_end(json);
    }
    json_end(json);
    return rc;
}

static void write_inferences(struct json *json, const struct inferences *inferences)
{
    json_object(json, "inferred_contexts");
    json_number(json, "open", inferences->open);
    json_number(json, "given_up", inferences->given_up);
    json_number(json, "impossible", inferences->impossible);
    json_number(json, "cut", inferences->cut);
    json_number(json, "steps", inferences->steps);
    json_end(json);
}

static void write_replay(struct json *json, const struct replay *replay)
{
    json_object(json, "replay");
    json_number(json, "stacks", replay->read);
    json_number(json, "records", replay->records);
    json_end(json);
}

int evaluate_write_json(const struct evaluate_result *result, FILE *out, struct fathom_error *err)
{
    struct printer printer = {.out = out};
    struct json json = {.printer = &printer};
    const struct score *s = &result->stages[result->stage_count - 1].score;
    double no_truth = 0;
    for (unsigned i = 0; i < NO_TRUTHS; i++)
        no_truth += s->no_truth[i];
    json_object(&json, NULL);
    json_number(&json, result->maps ? "cids" : "samples", s->samples);
    json_number(&json, "audit_samples", result->audit_samples);
    json_number(&json, "lost", result->lost);
    if (result->replayed)
        write_replay(&json, &result->replay);
    if (!result->maps)
        write_inferences(&json, &result->inferences);
    json_real(&json, "no_truth_weight", no_truth, WEIGHT_DECIMALS);
    write_figures(&json, &result->stages[result->stage_count - 1].score);
    write_degrees(&json, s);
    write_calibration(&json, s);
    write_part(&json, s);
    write_no_truth(&json, s);
    write_stages(&json, result);
    int rc = result->names ? write_wrong(&json, result, err) : 0;
    json_end(&json);
    return rc < 0 ? rc : printer_finish(&printer, err);
}
