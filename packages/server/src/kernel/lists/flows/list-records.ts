import { hash } from "node:crypto";
import { limits, type Model, type UnreadableRecord } from "@holdfast/sdk/protocol";
import { readHead } from "../../commits/db/heads.ts";
import { unreadableBytes } from "../../commits/db/unreadable-data.ts";
import { tooLargeToRead } from "../../commits/rules/unreadable-record.ts";
import { errorState, QUERY_CANCELED } from "../../connection/database-error.ts";
import type { Database } from "../../connection/pool.ts";
import { createLimiter } from "../../limits/limiter.ts";
import { isRefusal, type Refusal, refuse } from "../../refusal.ts";
import { liveSchema } from "../../schema/flows/live-schema.ts";
import type { SchemaCache } from "../../schema/flows/schema-cache.ts";
import type { Principal } from "../../tokens/rules/participant.ts";
import { checkModel } from "../../tokens/rules/scope.ts";
import { countRecords, countValues, type ValueCounts } from "../db/count-records.ts";
import { hostedRelation } from "../db/hosted-relation.ts";
import { type Listed, type ListQuestion, listRecords as listStored, type PageEnd } from "../db/list-records.ts";
import type { AskedCursor } from "../rules/asked-cursor.ts";
import { type Parameter, readFilters } from "../rules/list-filter.ts";
import { readOrder } from "../rules/list-order.ts";
import { type ListQuery, type NameIn, type QueryBody, readListQuery } from "../rules/list-query.ts";
import { readSearch } from "../rules/search.ts";
import { slowListMessage } from "../rules/slow-list.ts";
import type { PageCursors } from "./page-cursor.ts";
import type { OpenPlaces } from "./read-places.ts";
import { relationOf } from "./record-places.ts";

export interface ListRequest {
  readonly reader: Principal;
  readonly model: string;
  readonly limit: number;
  readonly state: "live" | "archived" | "all";
  readonly ids: readonly string[] | undefined;
  readonly cursor: AskedCursor | undefined;
  /** Whether to count the records of all pages. */
  readonly count: boolean;
  readonly asked: AskedByParameters | AskedByQuery;
}

export interface AskedByParameters {
  readonly kind: "parameters";
  readonly orderBy: string;
  readonly order: "asc" | "desc";
  /** Query parameters other than the list's own. Each has to be a filter. */
  readonly filters: readonly Parameter[];
  /** Words that occur in the fields that are indexed for it. */
  readonly search: string | undefined;
}

/** A query in JSON. `nameIn`: the fields that the caller means. */
export interface AskedByQuery {
  readonly kind: "query";
  readonly query: QueryBody;
  readonly nameIn: NameIn;
}

export interface ListPage {
  readonly model: string;
  /** The stored JSON text of each record. */
  readonly records: readonly string[];
  readonly unreadable: readonly UnreadableRecord[];
  readonly nextCursor: string | null;
  readonly previousCursor: string | null;
  readonly stamp: number;
  /** By id: when the archived records of the page were archived. */
  readonly archived: Readonly<Record<string, string>>;
  /** How many records there are on all pages. Undefined: it was not asked for. */
  readonly count: number | undefined;
  /** How many of them have which value. */
  readonly counts: ValueCounts | undefined;
}

export type ListRecords = (request: ListRequest) => Promise<ListPage | Refusal>;

/**
 * Where the pages beside a page begin. On the side that the caller comes from there were records when it got its cursor.
 * They may be gone by now: that is not looked up. If a page has become empty, both sides meet at that cursor.
 */
function placesBeside({ records, hasMore }: Listed, end: PageEnd | undefined, isBackward: boolean) {
  const [first, last] = [records.at(0), records.at(-1)].map((one) => one && { values: one.values, id: one.id });
  const back = end && { ...end, isIncluded: !end.isIncluded };
  const [onward, since] = isBackward ? [first, last] : [last, first];
  const [ahead, behind] = [hasMore ? onward : undefined, end && (since ?? back)];
  return isBackward ? { next: behind, previous: ahead } : { next: ahead, previous: behind };
}

/** What a cursor keeps of a place. If its values are long, their fingerprint: a cursor has to fit into a URL. */
type KeptEnd = PageEnd | (Omit<PageEnd, "values"> & { readonly values?: undefined; readonly of: string });

const fingerprint = (values: PageEnd["values"]): string => hash("sha256", JSON.stringify(values), "base64url");

/** Bytes of JSON. */
const MOST_KEPT = 4_096;

function keptEnd(end: PageEnd): KeptEnd {
  const { values, ...rest } = end;
  const isShort = Buffer.byteLength(JSON.stringify(values)) <= MOST_KEPT;
  return isShort && values.every((value) => typeof value !== "object" || value === null)
    ? end
    : { ...rest, of: fingerprint(values) };
}

/** The place that a cursor keeps. Undefined: it has long values, and its record has others by now, or is gone. */
async function endOf(
  db: Database,
  wanted: Omit<ListQuestion, "after" | "limit">,
  kept: KeptEnd,
): Promise<PageEnd | undefined> {
  if (kept.values) return kept;
  const { of, ...rest } = kept;
  const one = { ...wanted, state: "all", ids: [kept.id], filters: [], groups: undefined, after: undefined } as const;
  const [record] = (await listStored(db, { ...one, limit: 1 })).records;
  return record && fingerprint(record.values) === of ? { ...rest, values: record.values } : undefined;
}

const NO_PAGE: Listed = { records: [], hasMore: false };

/** Lists that may scan a whole model are limited to a few connections, so that other reads find a free one. A tenant leaves one to others. */
const SLOW_LISTS = { most: 4, mostPerKey: 3 };
const PATIENCE = { waitMs: 1_000, longestMs: 5_000 };

/** One page of a model's records, in a total order, at a cost that does not depend on the page's depth. */
export const listRecords = (
  hosted: Database,
  places: OpenPlaces,
  schemas: SchemaCache,
  cursors: PageCursors,
): ListRecords => {
  const limiter = createLimiter(SLOW_LISTS);
  return async ({ reader, model, limit, state, ids, cursor, count, asked }) => {
    const { tenant, scope } = reader;
    const key = model.toLowerCase();
    const schema = await liveSchema(hosted, schemas, tenant);
    const declared = schema.models.get(key);
    const hidden = checkModel(reader, declared?.name ?? model);
    if (hidden) return hidden;
    if (!declared) return refuse("unknown_model", { param: "model" });
    const query =
      asked.kind === "query"
        ? readListQuery(asked.query, declared.model, asked.nameIn)
        : byParameters(asked, declared.model);
    if (isRefusal(query)) return query;
    const { filters, order, countBy } = query;
    const groups = scope?.groups && [...scope.groups].sort();
    const context = JSON.stringify(["list", tenant, key, order, state, ids ?? null, filters, groups ?? null]);
    const kept = cursor && (cursors.decode(context, cursor.cursor) as KeptEnd | undefined);
    if (cursor && !kept) return refuse("invalid_cursor", { param: cursor.side });
    const isBackward = cursor?.side === "ending_before";
    const readPage = async (db: Database): Promise<ListPage | Refusal> => {
      const { syncId: stamp, rewriting } = await readHead(db, tenant);
      const relation = (await relationOf(places, db, tenant, declared)) ?? hostedRelation(rewriting, tenant);
      const wanted = { tenant, model: key, relation, state, ids, filters, groups };
      const bytes = limits.pageBytes;
      const end = kept && (await endOf(db, { ...wanted, order, bytes }, kept));
      if (cursor && !end) return refuse("invalid_cursor", { param: cursor.side });
      const place = isBackward ? { after: undefined, before: end } : { after: end };
      const read = async () => ({
        count: count ? await countRecords(db, wanted) : undefined,
        counts: countBy && (await countValues(db, wanted, { column: countBy, most: limits.countedValues, bytes })),
        ...(limit === 0 ? NO_PAGE : await listStored(db, { ...wanted, order, ...place, limit, bytes })),
      });
      const counts = count || countBy !== undefined;
      const mayTakeLong = order.keys.length > 0 || filters.length > 0 || counts;
      if (mayTakeLong && !(await limiter.enter(tenant, reader.tokenId, PATIENCE))) return refuse("overloaded");
      const page = await read()
        .catch((error: unknown) => {
          const message =
            errorState(error) === QUERY_CANCELED && slowListMessage(declared.name, declared.model, order, filters);
          if (message) return refuse("overloaded", { message });
          throw error;
        })
        .finally(() => {
          if (mayTakeLong) limiter.leave(tenant);
        });
      if (isRefusal(page)) return page;
      const readable = page.records.filter(({ data }) => unreadableBytes(data) === undefined);
      const unreadable = page.records.flatMap(({ id, data }) => {
        const size = unreadableBytes(data);
        return size === undefined ? [] : { model: declared.name, id, message: tooLargeToRead(size || undefined) };
      });
      const { next, previous } = placesBeside(page, limit === 0 ? undefined : end, isBackward);
      return {
        model: declared.name,
        records: readable.map(({ data }) => data),
        unreadable,
        nextCursor: next ? cursors.encode(context, keptEnd(next)) : null,
        previousCursor: previous ? cursors.encode(context, keptEnd(previous)) : null,
        stamp,
        archived: Object.fromEntries(
          readable.flatMap(({ id, archivedAt }) => (archivedAt === null ? [] : [[id, archivedAt]])),
        ),
        count: page.count,
        counts: page.counts,
      };
    };
    if (!places.has(declared.model)) return readPage(hosted);
    return places.read(reader, declared.name, async (there) => {
      await places.awaitLog(hosted, tenant);
      return readPage(there);
    });
  };
};

function byParameters({ orderBy, order: way, filters, search }: AskedByParameters, model: Model): ListQuery | Refusal {
  const order = readOrder(orderBy, way, model);
  if (isRefusal(order)) return order;
  const ofFields = readFilters(filters, model);
  if (isRefusal(ofFields)) return ofFields;
  const searched = search === undefined ? undefined : readSearch(search, model);
  if (isRefusal(searched)) return searched;
  return { order, filters: searched ? [...ofFields, searched] : ofFields, countBy: undefined };
}
