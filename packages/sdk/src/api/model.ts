import { shownRow } from "../core/conflicts/overlay.ts";
import { tableOf } from "../core/log/tables.ts";
import { shownState } from "../core/select.ts";
import { localError, notifyApp } from "../errors.ts";
import type { ModelSchema } from "../protocol/schema/model-schema.ts";
import type { ModelName, RowOf } from "../protocol/schema/row-types.ts";
import type { Lease } from "./claims/claims-api.ts";
import type { Collab } from "./claims/collab.ts";
import type { Blame } from "./facts/blame.ts";
import type { Lazy } from "./lazy.ts";
import type { AnyQuery } from "./lists/list-query.ts";
import type { Lists } from "./lists/lists.ts";
import type { ModelApi } from "./sync-client.ts";
import { checkId, objectCopy } from "./writes/payload.ts";
import { makeWrite, type WriteDeps } from "./writes/write.ts";

/** `client.models.slide`: each method makes one write or reads once. */
export function modelApi<S extends ModelSchema, M extends ModelName<S>>(
  deps: WriteDeps,
  lists: Lists,
  collab: Lazy<Collab>,
  model: M,
  subscribe: (listener: () => void) => () => void,
  usable: () => Promise<{ blame(model: string, id: string): Promise<Blame> }>,
): ModelApi<S, M> {
  type Row = RowOf<S, M>;
  return {
    create: (data, { id, ...options } = {}) => makeWrite(deps, [{ action: "create", model, id, data }], options),
    update: (id, patch, { base, ...options } = {}) =>
      makeWrite(deps, [{ action: "update", model, id, data: patch, base }], options),
    delete: (id, options) => makeWrite(deps, [{ action: "delete", model, id }], options),
    archive: (id, options) => makeWrite(deps, [{ action: "archive", model, id }], options),
    unarchive: (id, options) => makeWrite(deps, [{ action: "unarchive", model, id }], options),
    // The server validates every row against the pushed schema, so the types of the schema hold here.
    get: (id) => {
      const { engine, shown } = deps;
      const table = tableOf(model);
      const row = shownRow(shownState(engine.store.getState()), { model, id });
      return row && (shown.give(table, shown.show(table, row).data) as Row);
    },
    claim: async (id, options) => {
      if (deps.isClosed()) throw localError("client_closed", "The client is closed: it cannot claim.");
      const { meta, ...rest } = options ?? {};
      const request = { ...rest, ...(meta !== undefined && { meta: objectCopy(meta, "meta") }) };
      const checkedId = checkId(id);
      return (await (await collab.load()).claim(model, checkedId, request)) as unknown as Lease<S, M>;
    },
    count: (query = {}) => lists.counts(model, query as AnyQuery, true).get(true) ?? 0,
    exists: (query = {}) => lists.counts(model, query as AnyQuery, true).size > 0,
    countBy: (field, query = {}) => lists.counts(model, query as AnyQuery, field) as ReadonlyMap<never, number>,
    status: (query = {}) => lists.status(model, query as AnyQuery),
    subscribe: (query, listener) => {
      let shown: unknown;
      const tell = () => {
        const rows = lists.list(model, query as AnyQuery);
        if (rows === shown) return;
        shown = rows;
        notifyApp(listener as (rows: unknown) => void, rows);
      };
      tell();
      return subscribe(tell);
    },
    blame: async (id) => (await usable()).blame(model, id) as Promise<never>,
    list: (query = {}) => lists.list(model, query as AnyQuery) as never,
  };
}
