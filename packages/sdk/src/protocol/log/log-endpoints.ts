import { Type } from "typebox";
import type { EndpointSchema } from "../endpoint-schema.ts";
import { limits } from "../limits.ts";
import { ListEnvelope } from "../lists/list.ts";
import type { EndpointName } from "../paths.ts";
import { group, model, wholeNumber } from "../query-parameters.ts";
import { LogEntry } from "./log.ts";

const where = {
  description:
    'Only these records of a model, as JSON: `{"task":{"projectId":"p1"}}`. By field a value, or `in`, `contains`, `gt`, `gte`, `lt`, `lte`; an array of conditions means any of them.',
} as const;

/** The log and the snapshot. */
export const logEndpoints = {
  readLog: {
    summary: "Read the log of changes",
    audience: "token",
    query: {
      after: {
        description: "Position to read from, exclusive; default 0.",
        schema: wholeNumber(0, Number.MAX_SAFE_INTEGER, 0),
      },
      limit: {
        description: "1 to 1000 entries, default 100.",
        schema: wholeNumber(1, limits.logPageMax, limits.logPage),
      },
      model,
      group,
      where,
      run: {
        description: "Only changes of this run.",
        schema: Type.String({ minLength: 1, maxLength: limits.runLength }),
      },
      actor: { description: "Only changes by this participant, `<kind>:<id>`." },
      on_behalf_of: { description: "Only changes for this participant, `<kind>:<id>`." },
      wait: {
        description: "Milliseconds to wait for new entries, 0 to 25000.",
        schema: wholeNumber(0, limits.logWaitMs, 0),
      },
    },
    reply: { 200: ListEnvelope(LogEntry) },
    errors: ["read_at_in_future", "resync_required", "unknown_model"],
  },
  readSnapshot: {
    summary: "Read all records, as lines of JSON",
    audience: "token",
    query: {
      model,
      group,
      where,
      limit: {
        description: "Rows of this page, 1 to 10000.",
        schema: wholeNumber(1, limits.snapshotPage, limits.snapshotPage),
      },
      starting_after: { description: "`next_cursor` of the previous page." },
    },
    reply: { 200: Type.String() },
    errors: ["unknown_model"],
    produces: "application/x-ndjson",
  },
} as const satisfies Partial<Record<EndpointName, EndpointSchema>>;
