import type { JsonObject, ModelSchema, Query } from "@holdfast/sdk";
import { ownValue } from "@holdfast/sdk/protocol";
import { z } from "zod";
import { unknownField } from "../answer.ts";
import { describeModels } from "../describe-models.ts";
import { type AgentTool, defineTool, inputs } from "../tool.ts";
import { connectionOf, type ToolContext } from "../tool-context.ts";

const DESCRIPTION = `Lists records of one model, filtered and sorted. Answers { records, total, more, readAt }; each of the records counts as read.
Name the fields that you need: an answer has at most about 20 KB, and says what was cut. If you list only some fields, read a record before you update it.
The models and their fields:`;

const value = z.union([z.string(), z.number(), z.boolean(), z.null()]);
const range = z
  .strictObject({ in: z.array(value).min(1), gt: value, gte: value, lt: value, lte: value })
  .partial()
  .describe("A range (gt, gte, lt, lte), or a set of values (in).");

export interface ListInput {
  model: string;
  where?: Record<string, unknown> | undefined;
  orderBy?: string | undefined;
  order?: "asc" | "desc" | undefined;
  limit?: number | undefined;
  offset?: number | undefined;
  archived?: "without" | "only" | "with" | undefined;
  fields?: string[] | undefined;
}

/**
 * An answer contains at most this many bytes of records, but at least one record. Context costs more than another call.
 */
const MOST_BYTES = 20_000;

export function listRecords(context: ToolContext): AgentTool<ListInput> {
  const inputSchema = z.object({
    model: inputs(context).model,
    where: z
      .object({})
      .catchall(z.union([value, range]))
      .optional()
      .describe('Field to value, or to a range or set: {"deckId":"d1","order":{"gte":2},"status":{"in":["a","b"]}}.'),
    orderBy: z.string().optional().describe("The field to sort by; default: the id."),
    order: z.enum(["asc", "desc"]).optional(),
    limit: z.int().min(1).max(100).optional().describe("How many records; default 20."),
    offset: z.int().min(0).optional().describe("How many records to skip; default 0."),
    archived: z
      .enum(["without", "only", "with"])
      .optional()
      .describe("Archived records: leave them out (without, the default), list only them (only), or list all (with)."),
    fields: z.array(z.string()).min(1).optional().describe("Return only these fields and the id; default: all fields."),
  });
  return defineTool<ListInput>(
    context,
    `${DESCRIPTION}\n${describeModels(context.schema)}`,
    inputSchema,
    async (asked) => {
      const { model, where = {}, orderBy, order, limit = 20, offset = 0, archived, fields: wanted } = asked;
      const fields = ownValue(context.schema.models, model)?.fields ?? {};
      const unknown = [...Object.keys(where), ...(orderBy === undefined ? [] : [orderBy]), ...(wanted ?? [])].find(
        (field) => field !== "id" && !Object.hasOwn(fields, field),
      );
      if (unknown !== undefined) return unknownField(model, unknown);
      const all = (context.client.models[model]?.list({
        where: where as NonNullable<Query<ModelSchema, string>["where"]>,
        ...(orderBy !== undefined && { orderBy }),
        ...(order && { order }),
        ...(archived && { archived }),
      }) ?? []) as readonly JsonObject[];
      const page = all.slice(offset, offset + limit).map((record) => (wanted ? only(record, wanted) : record));
      const records = withinBytes(page);
      // A partial read does not count as reading the record, because the other fields stay unseen.
      if (!wanted) for (const { id } of records) context.readSet.take(model, String(id));
      const more = all.length > offset + records.length;
      const cut = page.length - records.length;
      return {
        ok: true,
        records,
        total: all.length,
        more,
        ...(cut > 0 && {
          cut,
          next: `${cut} more records did not fit. Continue with offset ${offset + records.length}, or name fewer fields.`,
        }),
        readAt: context.client.status().syncId,
        ...connectionOf(context),
      };
    },
  );
}

const only = (record: JsonObject, fields: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(record).filter(([name]) => name === "id" || fields.includes(name)));

function withinBytes(records: readonly JsonObject[]): readonly JsonObject[] {
  let bytes = 0;
  const end = records.findIndex((record) => {
    bytes += Buffer.byteLength(JSON.stringify(record)) + 1;
    return bytes > MOST_BYTES;
  });
  return end < 0 ? records : records.slice(0, Math.max(1, end));
}
