import { isRecordId, limits } from "@holdfast/sdk/protocol";
import type {
  AskedByParameters,
  ListPage,
  ListRecords,
  ListRequest,
} from "../../../kernel/lists/flows/list-records.ts";
import { readCursor } from "../../../kernel/lists/rules/asked-cursor.ts";
import { type QueryBody, readQueryPage } from "../../../kernel/lists/rules/list-query.ts";
import type { ReadHistory } from "../../../kernel/log/flows/read-history.ts";
import type { ReadRecord } from "../../../kernel/log/flows/read-record.ts";
import { isRefusal, type Refusal, refuse } from "../../../kernel/refusal.ts";
import type { ClientNames } from "../../../kernel/schema/rules/client-names.ts";
import {
  filterRefusalOut,
  filtersIn,
  nameIn,
  orderIn,
  type TranslatedFilter,
} from "../../../kernel/schema/rules/translate.ts";
import type { Handlers, Query } from "../answer.ts";
import { readInteger } from "../query.ts";

/** Reads one record, its history, and pages of records. */
export function recordRoutes(
  readRecord: ReadRecord,
  listRecords: ListRecords,
  readHistory: ReadHistory,
): Pick<Handlers, "readRecord" | "listRecords" | "queryRecords" | "readHistory"> {
  return {
    readRecord: async ({ principal, params: { model = "", id = "" } }) => {
      const found = await readRecord(principal, model, id);
      return isRefusal(found) ? { refusal: found } : { value: found };
    },
    listRecords: async ({ principal, params: { model = "" }, query, spoken }) => {
      const sent = readListQuery(query);
      if (isRefusal(sent)) return { refusal: sent };
      const { asked, ...page } = sent;
      const current = inCurrentNames(spoken?.names, model, asked);
      if (isRefusal(current)) return { refusal: current };
      const { filters, ...rest } = current;
      const inNames = { ...rest, filters: filters.map(({ parameter }) => parameter) };
      const found = await listRecords({ reader: principal, model, ...page, asked: inNames });
      return isRefusal(found) ? { refusal: filterRefusalOut(found, filters) } : { text: listText(found) };
    },
    queryRecords: async ({ principal, params: { model = "" }, body, spoken }) => {
      const page = readQueryPage(body);
      if (isRefusal(page)) return { refusal: page };
      const asked = { kind: "query", query: body as QueryBody, nameIn: nameIn(spoken?.names, model) } as const;
      const found = await listRecords({ reader: principal, model, ...page, ids: undefined, asked });
      return isRefusal(found) ? { refusal: found } : { text: listText(found) };
    },
    readHistory: async ({ principal, params: { model = "", id = "" }, query: { one } }) => {
      const paging = readPaging(one);
      if (isRefusal(paging)) return { refusal: paging };
      const page = await readHistory({ reader: principal, model, id, ...paging });
      if (isRefusal(page)) return { refusal: page };
      const tail = JSON.stringify({
        has_more: page.nextCursor !== null,
        next_cursor: page.nextCursor,
        stamp: page.stamp,
        logId: page.logId,
        ...(page.trimmedTo > 0 && { trimmedTo: page.trimmedTo }),
      });
      return { text: `{"object":"list","data":[${page.entries.join(",")}],${tail.slice(1)}` };
    },
  };
}

function listText({
  model,
  records,
  unreadable,
  nextCursor,
  previousCursor,
  stamp,
  archived,
  count,
  counts,
}: ListPage): string {
  const tail = JSON.stringify({
    has_more: nextCursor !== null,
    next_cursor: nextCursor,
    has_previous: previousCursor !== null,
    previous_cursor: previousCursor,
    stamp,
    ...(Object.keys(archived).length > 0 && { archived }),
    ...(unreadable.length > 0 && { unreadable }),
    count,
    ...(counts && { counts: counts.values, has_more_counts: counts.hasMore }),
  });
  return `{"object":"list","model":${JSON.stringify(model)},"data":[${records.join(",")}],${tail.slice(1)}`;
}

type InCurrentNames = Omit<AskedByParameters, "filters"> & { readonly filters: readonly TranslatedFilter[] };

function inCurrentNames(
  names: ClientNames | undefined,
  model: string,
  { orderBy: order, filters: sent, ...rest }: AskedByParameters,
): InCurrentNames | Refusal {
  if (!names) return { ...rest, orderBy: order, filters: sent.map((parameter) => ({ sent: parameter[0], parameter })) };
  const orderBy = orderIn(names, model, order);
  if (isRefusal(orderBy)) return orderBy;
  const filters = filtersIn(names, model, sent);
  return isRefusal(filters) ? filters : { ...rest, orderBy, filters };
}

type AskedList = Omit<ListRequest, "reader" | "model" | "asked"> & { readonly asked: AskedByParameters };

function readListQuery({ one, others }: Query): AskedList | Refusal {
  const paging = readPaging(one);
  if (isRefusal(paging)) return paging;
  const { order_by: orderBy = "id", state = "live", ids: idList, search } = one;
  if (state !== "live" && state !== "archived" && state !== "all")
    return refuse("invalid_value", { param: "state", message: `"state" must be live, archived or all.` });
  const ids = idList?.split(",");
  if (ids && (ids.length > limits.listMax || !ids.every(isRecordId)))
    return refuse("invalid_id", {
      param: "ids",
      message: `"ids" must be up to ${limits.listMax} ids, separated by commas.`,
    });
  const cursor = readCursor(one);
  if (isRefusal(cursor)) return cursor;
  const { order, limit } = paging;
  return {
    limit,
    cursor,
    state,
    ids,
    count: false,
    asked: { kind: "parameters", orderBy, order, filters: others, search },
  };
}

interface Paging {
  readonly limit: number;
  readonly order: "asc" | "desc";
  readonly cursor: string | undefined;
}

function readPaging(one: Query["one"]): Paging | Refusal {
  const limit = readInteger(one.limit, { name: "limit", min: 1, max: limits.listMax, absent: limits.listDefault });
  if (isRefusal(limit)) return limit;
  const { order = "asc", starting_after: cursor } = one;
  if (order !== "asc" && order !== "desc")
    return refuse("invalid_value", { param: "order", message: `"order" must be asc or desc.` });
  return { limit, order, cursor };
}
