import type { ModelName, ModelSchema, NewRow, UndoableWrite } from "@holdfast/sdk";
import { type Draft, type DraftState, openDraft } from "@holdfast/sdk/draft";
import { useContext, useEffect, useMemo, useRef, useSyncExternalStore } from "react";
import { recordNow, SeedContext } from "../hydration/hydration.ts";
import { stillClient } from "../hydration/inert-client.ts";
import { useClient } from "./use-client.ts";

/** The fields of a model that have text. */
export type TextField<S extends ModelSchema, M extends ModelName<S>> = {
  [F in keyof NewRow<S, M> & string]: NonNullable<NewRow<S, M>[F]> extends string ? F : never;
}[keyof NewRow<S, M> & string];

/** What a person types into a field, and how it is written. The functions keep their identity. */
export type FieldDraft = DraftState & Pick<Draft, "set" | "commit" | "discard">;

export type UseDraft<S extends ModelSchema> = <M extends ModelName<S>>(
  model: M,
  id: string,
  field: TextField<S, M>,
  options?: { readonly pauseMs?: number | undefined; readonly onWrite?: ((write: UndoableWrite) => void) | undefined },
) => FieldDraft;

/**
 * The text of one field while a person types: `<textarea value={value} onChange={(event) => set(event.target.value)}
 * onBlur={commit} />`. It is written after a pause of `pauseMs` (default 800), by `commit`, when the page is hidden, and
 * before the component unmounts; never if it has not changed. `onWrite` is told of each write, for `useUndo`.
 */
export const useDraft: UseDraft<ModelSchema> = (model, id, field, { pauseMs, onWrite } = {}) => {
  const client = useClient();
  const seed = useContext(SeedContext);
  const newest = useRef(onWrite);
  useEffect(() => {
    newest.current = onWrite;
  });
  const [draft, readFirst] = useMemo(() => {
    const open = (from: typeof client) =>
      openDraft(
        from,
        { model, id, field },
        { pauseMs, get: () => recordNow(from, seed, model, id), onWrite: (write) => newest.current?.(write) },
      );
    return [open(client), open(stillClient).state];
  }, [client, seed, model, id, field, pauseMs]);
  const state = useSyncExternalStore(draft.subscribe, draft.state, readFirst);
  return useMemo(() => {
    const { set, commit, discard } = draft;
    return { ...state, set, commit, discard };
  }, [draft, state]);
};
