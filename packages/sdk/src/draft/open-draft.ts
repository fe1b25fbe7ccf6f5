import type { Conflict, ErasedRecord, SyncClient } from "../api/sync-client.ts";
import type { UndoableWrite } from "../api/writes/write-api.ts";
import type { ModelSchema } from "../protocol/schema/model-schema.ts";
import type { MergedText } from "../text/merge-text.ts";
import { caretIn } from "./caret.ts";

/*
 * What a person types into one field, until it is written.
 *
 * A draft has two texts: `local`, which the person sees and changes, and `base`, the text of the client from which
 * `local` was made, with the position that the client's rows had then. Without `local` the field is shown as the client
 * has it.
 *
 *   set ─► local, with base = what was shown ─ a pause, commit, hidden, the last listener ─► one write ─► no local
 *              │ others change the text
 *              └─ field with `merge`: local = merge(base, local, theirs), base = theirs
 *                 otherwise, or if that conflicts: both stay, and the write is made against the base, so that it conflicts
 *
 * As long as an open conflict has the person's text, that is the text of the field here: the person goes on with it, not
 * with the one of others.
 */

export interface DraftTarget {
  readonly model: string;
  readonly id: string;
  readonly field: string;
}

export interface DraftOptions {
  /** After how long without a change the text is written. Default: 800. */
  readonly pauseMs?: number | undefined;
  /** Called with every write that the draft makes: after a pause, too. */
  readonly onWrite?: ((write: UndoableWrite) => void) | undefined;
  /** Reads the record. Default: from the client. */
  readonly get?: (() => { readonly [field: string]: unknown } | undefined) | undefined;
}

/** A draft as it is now. The same object until something in it changes. */
export interface DraftState {
  /** The text to show. "" if the field has none. */
  readonly value: string;
  /** Whether there is text that is not written yet. */
  readonly dirty: boolean;
  /** The conflict about this field, if a person has to decide. */
  readonly conflict: Conflict | undefined;
  /** Why the text could not be written: the client refused it. It stays, and is tried again with the next change. */
  readonly error: unknown;
}

export interface Draft {
  state(): DraftState;
  /** Changes the text. */
  set(text: string): void;
  /** Writes the text now. Undefined: it has not changed. */
  commit(): UndoableWrite | undefined;
  /** Drops the text that is not written. */
  discard(): void;
  /**
   * Called after every change of the state. Only while there is a listener the draft follows the client and the page;
   * when the last one leaves, the text is written.
   */
  subscribe(listener: () => void): () => void;
}

interface Local {
  readonly text: string;
  readonly base: string;
  readonly readAt: number;
  /** The record was erased meanwhile, so that there is no base. */
  readonly isErased?: true;
}

type AnyClient = Pick<
  SyncClient<ModelSchema>,
  "schema" | "models" | "conflicts" | "pending" | "status" | "subscribe" | "onErased"
>;
type MergeText = (base: string, mine: string, theirs: string) => MergedText;

function modelOf({ models }: AnyClient, model: string) {
  const api = models[model];
  if (!api) throw new Error(`The client's schema has no model "${model}".`);
  return api;
}

/** Opens a draft of one text field. It does nothing before someone subscribes or sets a text. */
export function openDraft(client: AnyClient, { model, id, field }: DraftTarget, options: DraftOptions = {}): Draft {
  const api = modelOf(client, model);
  const { pauseMs = 800, onWrite, get = () => api.get(id) } = options;
  if (!(typeof pauseMs === "number" && pauseMs >= 0 && pauseMs < 2 ** 31))
    throw new Error(`pauseMs must be a number of milliseconds from 0 to 24 days (got ${String(pauseMs)}).`);
  const isMerged = client.schema.models[model]?.fields[field]?.merge === "text";
  const listeners = new Set<() => void>();
  let local: Local | undefined;
  /** What was shown last without `local`: that is what a person begins to change. */
  let seen: Omit<Local, "text"> | undefined;
  let error: unknown;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let composed: ReturnType<typeof setTimeout> | undefined;
  let mergeText: MergeText | undefined;
  let isComposing = false;
  let last: DraftState | undefined;

  const conflictNow = (): Conflict | undefined =>
    client.conflicts().find((each) => each.model === model && each.id === id && each.fields.includes(field));

  /** The text as this person has it, without what is not written yet. */
  function shown(conflict = conflictNow()): string {
    const mine = conflict?.mine[field];
    const value = typeof mine === "string" ? mine : get()?.[field];
    return typeof value === "string" ? value : "";
  }

  /** How far the log was read in what is shown: a pending write covers what others have written since. */
  function seenAt(): number {
    const { syncId } = client.status();
    const covering = client.pending().flatMap(({ operations }) => operations.filter((o) => o.id === id));
    return covering.reduce((least, { readAt = syncId }) => Math.min(least, readAt), syncId);
  }

  function state(): DraftState {
    const conflict = conflictNow();
    // A text that changes under an open composition would end it.
    const isFrozen = isComposing && seen !== undefined;
    const base = shown(conflict);
    if (!local && !isFrozen && seen?.base !== base) seen = { base, readAt: seenAt() };
    const value = local?.text ?? seen?.base ?? "";
    const next: DraftState = { value, dirty: local !== undefined, conflict, error };
    const isSame =
      last?.value === value && last.dirty === next.dirty && last.conflict === conflict && last.error === error;
    if (!isSame || !last) last = next;
    return last;
  }

  function changed(): void {
    const before = last;
    if (state() !== before) for (const listener of [...listeners]) listener();
  }

  const stopTimer = () => clearTimeout(timer);

  function set(text: string): void {
    if (!seen) state();
    local = { readAt: 0, base: "", ...(local ?? seen), text };
    error = undefined;
    stopTimer();
    timer = setTimeout(onPause, pauseMs);
    changed();
  }

  /** Half-composed characters are not written. The end of the composition brings the next change. */
  function onPause(): void {
    if (isComposing) timer = setTimeout(onPause, pauseMs);
    else commit();
  }

  function commit(): UndoableWrite | undefined {
    stopTimer();
    follow();
    if (!local) return undefined;
    const { text, base, readAt, isErased } = local;
    const now = shown();
    let write: UndoableWrite | undefined;
    try {
      // The person's text is what is shown already, or it is again what it was.
      if (text !== now && text !== base)
        write =
          base === now && !isErased
            ? api.update(id, { [field]: text })
            : api.update(id, { [field]: text }, { readAt, base: isErased ? {} : { [field]: base } });
      local = undefined;
      seen = undefined;
      error = undefined;
    } catch (refusal) {
      error = refusal;
    }
    changed();
    if (write) onWrite?.(write);
    return write;
  }

  function discard(): void {
    stopTimer();
    local = undefined;
    seen = undefined;
    error = undefined;
    changed();
  }

  /** Takes over what others have changed. */
  function follow(): void {
    if (!local || isComposing) return;
    const now = shown();
    if (now === local.base || !isMerged || !mergeText) return;
    const merged = mergeText(local.base, local.text, now);
    if ("text" in merged) local = { text: merged.text, base: now, readAt: seenAt() };
  }

  function onClient(): void {
    const before = local?.text;
    const caret = before === undefined ? undefined : caretIn(before);
    follow();
    changed();
    // After the microtask in which React updates the input.
    if (caret && local && local.text !== before) queueMicrotask(() => caret(local?.text ?? ""));
  }

  /** Only what the person has typed stays. */
  function onErased(erased: ErasedRecord): void {
    if (erased.model !== model || erased.id !== id) return;
    seen = undefined;
    if (local) local = { ...local, base: "", isErased: true };
    changed();
  }

  function onComposition({ type }: Event): void {
    clearTimeout(composed);
    if (type === "compositionstart") isComposing = true;
    else composed = setTimeout(endComposition);
  }

  /** In Firefox the last input event comes after the end of the composition. */
  function endComposition(): void {
    isComposing = false;
    onClient();
  }

  const onHidden = () => {
    if (document.visibilityState === "hidden") commit();
  };
  const onPageHide = () => void commit();

  let stop: (() => void) | undefined;

  function start(): () => void {
    const offs = [client.subscribe(onClient), client.onErased(onErased)];
    const off = () => {
      for (const end of offs) end();
    };
    if (isMerged && !mergeText)
      import("../text/merge-text.ts").then(
        (code) => {
          mergeText = code.mergeText;
          onClient();
        },
        // Texts are merged after they are written, then.
        () => {},
      );
    if (typeof document === "undefined") return off;
    const inPage = ["compositionstart", "compositionend"];
    for (const type of inPage) document.addEventListener(type, onComposition, true);
    document.addEventListener("visibilitychange", onHidden);
    addEventListener("pagehide", onPageHide);
    return () => {
      off();
      for (const type of inPage) document.removeEventListener(type, onComposition, true);
      document.removeEventListener("visibilitychange", onHidden);
      removeEventListener("pagehide", onPageHide);
    };
  }

  return {
    state,
    set,
    commit,
    discard,
    subscribe(listener) {
      listeners.add(listener);
      stop ??= start();
      return () => {
        listeners.delete(listener);
        if (listeners.size > 0) return;
        stop?.();
        stop = undefined;
        clearTimeout(composed);
        isComposing = false;
        commit();
        // Nothing tells a draft without listeners that the record was erased.
        if (!local) seen = last = undefined;
      };
    },
  };
}
