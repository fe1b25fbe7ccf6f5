import type { Effect } from "./effects.ts";
import type { Mutation } from "./queue/mutation.ts";
import type { ClientState } from "./state.ts";

/**
 * One event being heard: the state as it grows, and what is asked of the world meanwhile. It lives inside one `step`,
 * which copies the state once, so the copy may be written to until it is given back.
 */
export interface Draft {
  state: ClientState;
  readonly effects: Effect[];
  readonly now: number;
  readonly roll: number;
}

export function set(draft: Draft, change: Partial<ClientState>): void {
  Object.assign(draft.state, change);
}

export const ask = (draft: Draft, effect: Effect): void => void draft.effects.push(effect);

/** What became of writes is kept by the tab that leads; the others were told of it and keep it in memory. */
export function keep(draft: Draft, mutations: readonly Mutation[]): void {
  const { generation } = draft.state;
  if (generation !== undefined && mutations.length > 0) ask(draft, { do: "keep", mutations, generation });
}

/** How many names are remembered of what the log has and no tab has told of. */
const REMEMBERED = 1_000;

/** The log has a write of this profile that is not known here yet. */
export function logged(draft: Draft, clientTxId: string): void {
  const { tabs } = draft.state;
  if (!tabs.logged.includes(clientTxId))
    set(draft, { tabs: { ...tabs, logged: [...tabs.logged, clientTxId].slice(-REMEMBERED) } });
}

/** The views of these records may have changed. */
export function touch(draft: Draft, keys: readonly string[] | "everything"): void {
  const { touched } = draft.state;
  if (touched === "everything") return;
  if (keys === "everything") return set(draft, { touched: keys });
  // The list was made for this step, so it may grow: copied for every write, a long queue would cost its square.
  for (const key of keys) (touched as string[]).push(key);
}
