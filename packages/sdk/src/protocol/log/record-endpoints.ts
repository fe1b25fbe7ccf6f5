import { Type } from "typebox";
import { CommitReceipt } from "../commits/commit.ts";
import type { EndpointSchema } from "../endpoint-schema.ts";
import { limits } from "../limits.ts";
import { ListEnvelope } from "../lists/list.ts";
import { QueryBody } from "../lists/query-body.ts";
import type { EndpointName } from "../paths.ts";
import { wholeNumber } from "../query-parameters.ts";
import { LogEntry } from "./log.ts";
import { BareWriteBody, CreateBody, ReadEnvelope, UpdateBody } from "./record.ts";

/** Records, one at a time, and lists of them. */
export const recordEndpoints = {
  createRecord: {
    summary: "Create a record",
    audience: "token",
    body: CreateBody,
    reply: { 200: CommitReceipt },
    errors: ["already_exists", "id_mismatch", "invalid_sync_group"],
  },
  updateRecord: {
    summary: "Update fields of a record",
    audience: "token",
    body: UpdateBody,
    reply: { 200: CommitReceipt },
    errors: ["id_mismatch", "empty_update", "invalid_sync_group"],
  },
  deleteRecord: {
    summary: "Delete a record, or erase all that is kept of it",
    audience: "token",
    query: {
      erase: {
        description:
          "`true` erases the record: its values are also removed from the log, its history, receipts and undelivered webhooks. Needs a secret key, or a token whose operations name `<model>.erase`.",
        schema: Type.Boolean({ default: false }),
      },
    },
    body: BareWriteBody,
    bodyOptional: true,
    reply: { 200: CommitReceipt },
  },
  readRecord: {
    summary: "Read one record",
    audience: "token",
    reply: { 200: ReadEnvelope },
    errors: ["record_not_found", "record_too_large"],
  },
  listRecords: {
    summary: "List records",
    audience: "token",
    query: {
      limit: { description: "1 to 100, default 20.", schema: wholeNumber(1, limits.listMax, limits.listDefault) },
      order: {
        description: "`asc` (default) or `desc`.",
        schema: Type.Union([Type.Literal("asc"), Type.Literal("desc")], { default: "asc" }),
      },
      order_by: {
        description:
          "Up to 8 keys, separated by commas: a scalar field, `id` (default), `createdAt`, `createdBy`, `updatedAt` or `updatedBy`; `<field>:values` for an enum in the order of its values. `<key>:desc` and `<key>:asc` set the direction of one key.",
        schema: Type.String({ default: "id" }),
      },
      search: {
        description: 'Words, each of which occurs in one of the fields with `"index": "text"`, in upper or lower case.',
      },
      starting_after: { description: "`next_cursor` of the previous page." },
      ending_before: { description: "`previous_cursor` of the next page: the records right before it." },
      state: {
        description: "`live` (default), `archived` or `all`.",
        schema: Type.Union([Type.Literal("live"), Type.Literal("archived"), Type.Literal("all")], { default: "live" }),
      },
      ids: {
        description: "Comma-separated ids, up to 100.",
        schema: Type.String({ pattern: "^[A-Za-z0-9_.:~-]{1,255}(,[A-Za-z0-9_.:~-]{1,255}){0,99}$" }),
      },
    },
    filters: true,
    reply: { 200: ListEnvelope(Type.Record(Type.String(), Type.Unknown())) },
  },
  queryRecords: {
    summary: "List records by a query",
    audience: "token",
    body: QueryBody,
    bodyJudged: true,
    reply: { 200: ListEnvelope(Type.Record(Type.String(), Type.Unknown())) },
    errors: ["invalid_limit", "invalid_cursor"],
  },
  readHistory: {
    summary: "List a record's log entries",
    audience: "token",
    query: {
      limit: { description: "1 to 100, default 20.", schema: wholeNumber(1, limits.listMax, limits.listDefault) },
      order: {
        description: "`asc` (default, oldest first) or `desc`.",
        schema: Type.Union([Type.Literal("asc"), Type.Literal("desc")], { default: "asc" }),
      },
      starting_after: { description: "`next_cursor` of the previous page." },
    },
    reply: { 200: ListEnvelope(LogEntry) },
    errors: ["record_not_found"],
  },
  archiveRecord: {
    summary: "Archive a record",
    audience: "token",
    body: BareWriteBody,
    bodyOptional: true,
    reply: { 200: CommitReceipt },
  },
  unarchiveRecord: {
    summary: "Restore an archived record",
    audience: "token",
    body: BareWriteBody,
    bodyOptional: true,
    reply: { 200: CommitReceipt },
  },
} as const satisfies Partial<Record<EndpointName, EndpointSchema>>;
