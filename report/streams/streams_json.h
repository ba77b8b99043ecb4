/* streams_json.h - the members of the JSON object of hot streams, for the file and for the page. */
#ifndef FATHOM_REPORT_STREAMS_STREAMS_JSON_H
#define FATHOM_REPORT_STREAMS_STREAMS_JSON_H

#include "report/export/json.h"
#include "report/streams/streams.h"

void streams_json_members(struct json *json, const struct shown_streams *streams);

#endif
