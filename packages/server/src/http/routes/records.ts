import { isRecordId, limits } from "@holdfast/sdk/protocol";
import type { ListRecords, ListRequest } from "../../flows/lists/list-records.ts";
import type { ReadHistory } from "../../flows/log/read-history.ts";
import type { ReadRecord } from "../../flows/log/read-record.ts";
import { isRefusal, type Refusal, refuse } from "../../rules/refusal.ts";
import type { ClientNames } from "../../rules/schema/client-names.ts";
import { filterRefusalOut, filtersIn, orderIn, type TranslatedFilter } from "../../rules/schema/translate.ts";
import type { Handlers, Query } from "../answer.ts";
import { readInteger } from "../query.ts";

/** Reads one record, its history, and pages of records. */
export function recordRoutes(
  readRecord: ReadRecord,
  listRecords: ListRecords,
  readHistory: ReadHistory,
): Pick<Handlers, "readRecord" | "listRecords" | "readHistory"> {
  return {
    readRecord: async ({ principal, params: { model = "", id = "" } }) => {
      const found = await readRecord(principal, model, id);
      return isRefusal(found) ? { refusal: found } : { value: found };
    },
    listRecords: async ({ principal, params: { model = "" }, query, spoken }) => {
      const sent = readListQuery(query);
      if (isRefusal(sent)) return { refusal: sent };
      const asked = inCurrentNames(spoken?.names, model, sent);
      if (isRefusal(asked)) return { refusal: asked };
      const { filters, ...rest } = asked;
      const request = { reader: principal, model, ...rest, filters: filters.map(({ parameter }) => parameter) };
      const page = await listRecords(request);
      if (isRefusal(page)) return { refusal: filterRefusalOut(page, filters) };
      const tail = JSON.stringify({
        has_more: page.nextCursor !== null,
        next_cursor: page.nextCursor,
        stamp: page.stamp,
        ...(Object.keys(page.archived).length > 0 && { archived: page.archived }),
      });
      return {
        text: `{"object":"list","model":${JSON.stringify(page.model)},"data":[${page.records.join(",")}],${tail.slice(1)}`,
      };
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

type AskedList = Omit<ListRequest, "reader" | "model">;

function inCurrentNames(
  names: ClientNames | undefined,
  model: string,
  { orderBy: order, filters: sent, ...rest }: AskedList,
): (Omit<AskedList, "filters"> & { readonly filters: readonly TranslatedFilter[] }) | Refusal {
  if (!names) return { ...rest, orderBy: order, filters: sent.map((parameter) => ({ sent: parameter[0], parameter })) };
  const orderBy = orderIn(names, model, order);
  if (isRefusal(orderBy)) return orderBy;
  const filters = filtersIn(names, model, sent);
  return isRefusal(filters) ? filters : { ...rest, orderBy, filters };
}

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
  return { ...paging, orderBy, state, ids, filters: others, search };
}

function readPaging(one: Query["one"]): Pick<ListRequest, "limit" | "order" | "cursor"> | Refusal {
  const limit = readInteger(one.limit, { name: "limit", min: 1, max: limits.listMax, absent: limits.listDefault });
  if (isRefusal(limit)) return limit;
  const { order = "asc", starting_after: cursor } = one;
  if (order !== "asc" && order !== "desc")
    return refuse("invalid_value", { param: "order", message: `"order" must be asc or desc.` });
  return { limit, order, cursor };
}
