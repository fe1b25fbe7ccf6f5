import type { StoreApi } from "zustand/vanilla";
import { refOf, tableOf } from "../core/log/tables.ts";
import type { ClientState } from "../core/state.ts";
import { notifyApp } from "../errors.ts";
import type { ErasedRecord } from "./sync-client.ts";

/** Calls the listener for each record that is erased from now on. `names`: the models as the schema spells them. */
export function onErased(
  store: StoreApi<ClientState>,
  names: readonly string[],
  listener: (record: ErasedRecord) => void,
): () => void {
  let { erased: known } = store.getState();
  return store.subscribe(({ erased }) => {
    const news = erased === known ? [] : [...erased].filter(([key, position]) => known.get(key) !== position);
    known = erased;
    for (const { model: table, id } of news.map(([key]) => refOf(key))) {
      const model = names.find((name) => tableOf(name) === table);
      if (model !== undefined) notifyApp(() => listener({ model, id }));
    }
  });
}
