import { type Field, limits, type ReadEnvelope } from "@holdfast/sdk/protocol";
import type pg from "pg";
import { readHead } from "../../db/heads.ts";
import { listRecords, type PageEnd, type SortColumn } from "../../db/list-records.ts";
import { readRecord } from "../../db/records.ts";
import { liveSchema } from "../../flows/live-schema.ts";
import type { SchemaCache } from "../../flows/schema-cache.ts";
import { isRecordId } from "../../rules/record-id.ts";
import { type Refusal, refuse } from "../../rules/refusal.ts";
import type { DeclaredModel } from "../../rules/world-state.ts";
import { isRefusal } from "../../wire/json-body.ts";
import type { Handlers, Query } from "../answer.ts";
import type { PageCursors } from "../page-cursor.ts";
import { readInteger } from "../query.ts";

/** Reading one record, and pages of them. */
export function recordRoutes(
  pool: pg.Pool,
  schemas: SchemaCache,
  cursors: PageCursors,
): Pick<Handlers, "readRecord" | "listRecords"> {
  return {
    readRecord: async ({ principal, params }) => {
      const { model = "", id = "" } = params;
      const declared = (await liveSchema(pool, schemas, principal.world)).models.get(model.toLowerCase());
      if (!declared) return { refusal: refuse("unknown_model", { param: "model" }) };
      if (!isRecordId(id)) return { refusal: refuse("invalid_id", { param: "id" }) };
      const { syncId: stamp } = await readHead(pool, principal.world);
      const record = await readRecord(pool, { world: principal.world, model: model.toLowerCase(), id });
      if (!record) return { refusal: refuse("record_not_found", { param: "id" }) };
      const { syncId, createdAt, updatedAt, updatedBy, archivedAt, data } = record;
      const value: ReadEnvelope = {
        object: "model",
        model: declared.name,
        id,
        data: { ...data },
        stamp,
        claims: [],
        syncId,
        createdAt,
        updatedAt,
        updatedBy,
        archivedAt,
      };
      return { value };
    },
    listRecords: async ({ principal, params, query }) => {
      const model = (params.model ?? "").toLowerCase();
      const declared = (await liveSchema(pool, schemas, principal.world)).models.get(model);
      if (!declared) return { refusal: refuse("unknown_model", { param: "model" }) };
      const asked = readListQuery(query, declared);
      if (isRefusal(asked)) return { refusal: asked };
      const context = JSON.stringify([principal.world, model, asked.order, asked.sort, asked.state, asked.ids ?? null]);
      const after =
        asked.cursor === undefined ? undefined : (cursors.open(context, asked.cursor) as PageEnd | undefined);
      if (asked.cursor !== undefined && !after)
        return { refusal: refuse("invalid_cursor", { param: "starting_after" }) };
      const { syncId: stamp } = await readHead(pool, principal.world);
      const rows = await listRecords(pool, {
        world: principal.world,
        model,
        state: asked.state,
        ids: asked.ids,
        sort: asked.sort,
        descending: asked.order === "desc",
        after,
        limit: asked.limit + 1,
      });
      const page = rows.slice(0, asked.limit);
      const last = page.at(-1);
      const more = rows.length > asked.limit && last !== undefined;
      const archived = page.filter(({ archivedAt }) => archivedAt !== null);
      const tail = JSON.stringify({
        has_more: more,
        next_cursor: more ? cursors.seal(context, { value: last.value, id: last.id } satisfies PageEnd) : null,
        stamp,
        ...(archived.length > 0 && {
          archived: Object.fromEntries(archived.map(({ id, archivedAt }) => [id, archivedAt])),
        }),
      });
      return {
        text: `{"object":"list","model":${JSON.stringify(declared.name)},"data":[${page.map(({ data }) => data).join(",")}],${tail.slice(1)}`,
      };
    },
  };
}

interface ListRequest {
  readonly limit: number;
  readonly order: "asc" | "desc";
  readonly sort: SortColumn;
  readonly state: "live" | "archived" | "all";
  readonly ids: readonly string[] | undefined;
  readonly cursor: string | undefined;
}

function readListQuery({ one }: Query, declared: DeclaredModel): ListRequest | Refusal {
  const limit = readInteger(one.limit, { name: "limit", min: 1, max: limits.listMax, absent: limits.listDefault });
  if (typeof limit === "object") return limit;
  const { order = "asc", order_by: column = "id", state = "live", ids: idList, starting_after: cursor } = one;
  if (order !== "asc" && order !== "desc")
    return refuse("invalid_value", { param: "order", message: `"order" is asc or desc.` });
  if (state !== "live" && state !== "archived" && state !== "all")
    return refuse("invalid_value", { param: "state", message: `"state" is live, archived or all.` });
  const sort = sortColumn(column, declared);
  if (!sort) return refuse("unknown_column", { param: "order_by" });
  const ids = idList?.split(",");
  if (ids && (ids.length > limits.listMax || !ids.every(isRecordId)))
    return refuse("invalid_id", { param: "ids", message: `"ids" is up to ${limits.listMax} ids with commas between.` });
  return { limit, order, sort, state, ids, cursor };
}

const SCALAR: ReadonlySet<Field["type"]> = new Set(["string", "number", "integer", "boolean", "datetime", "enum"]);

function sortColumn(column: string, { model }: DeclaredModel): SortColumn | undefined {
  if (column === "id") return { kind: "id" };
  const field = Object.hasOwn(model.fields, column) ? model.fields[column] : undefined;
  if (field) return SCALAR.has(field.type) ? { kind: "field", name: column, type: field.type } : undefined;
  return column === "createdAt" ? { kind: "createdAt" } : column === "updatedAt" ? { kind: "updatedAt" } : undefined;
}
