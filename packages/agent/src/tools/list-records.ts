import type { JsonObject, ModelSchema, Query } from "@holdfast/sdk";
import { z } from "zod";
import { unknownField } from "../answer.ts";
import { describeModels } from "../describe-models.ts";
import { connectionOf, type Desk } from "../desk.ts";
import { type AgentTool, defineTool, inputs } from "../tool.ts";

const DESCRIPTION = `Lists records of one model, filtered and sorted. Answers { records, total, more, readAt }; every record in it counts as read.
The models and their fields:`;

const value = z.union([z.string(), z.number(), z.boolean(), z.null()]);
const range = z
  .strictObject({ in: z.array(value), gt: value, gte: value, lt: value, lte: value })
  .partial()
  .describe("A range, or a set of values.");

export interface ListInput {
  model: string;
  where?: Record<string, unknown> | undefined;
  orderBy?: string | undefined;
  order?: "asc" | "desc" | undefined;
  limit?: number | undefined;
  offset?: number | undefined;
  archived?: "without" | "only" | "with" | undefined;
}

export function listRecords(desk: Desk): AgentTool<ListInput> {
  const inputSchema = z.object({
    model: inputs(desk).model,
    where: z
      .object({})
      .catchall(z.union([value, range]))
      .optional()
      .describe('Field to value, or to a range or set: {"deckId":"d1","order":{"gte":2},"status":{"in":["a","b"]}}.'),
    orderBy: z.string().optional().describe("A field; default: the id."),
    order: z.enum(["asc", "desc"]).optional(),
    limit: z.int().min(1).max(100).optional().describe("How many; default 20."),
    offset: z.int().min(0).optional().describe("How many to pass over; default 0."),
    archived: z.enum(["without", "only", "with"]).optional().describe("Archived records; default: without."),
  });
  return defineTool<ListInput>(desk, `${DESCRIPTION}\n${describeModels(desk.schema)}`, inputSchema, async (asked) => {
    const { model, where = {}, orderBy, order, limit = 20, offset = 0, archived } = asked;
    const fields = desk.schema.models[model]?.fields ?? {};
    const unknown = [...Object.keys(where), ...(orderBy === undefined ? [] : [orderBy])].find(
      (field) => field !== "id" && !Object.hasOwn(fields, field),
    );
    if (unknown !== undefined) return unknownField(model, unknown);
    const all = (desk.client.models[model]?.list({
      where: where as NonNullable<Query<ModelSchema, string>["where"]>,
      ...(orderBy !== undefined && { orderBy }),
      ...(order && { order }),
      ...(archived && { archived }),
    }) ?? []) as readonly JsonObject[];
    const records = all.slice(offset, offset + limit);
    for (const { id } of records) desk.readings.take(model, String(id));
    const more = all.length > offset + records.length;
    return { ok: true, records, total: all.length, more, readAt: desk.client.status().syncId, ...connectionOf(desk) };
  });
}
