import type { MergeText } from "./conflicts/plan-merge.ts";
import type { Effect } from "./effects.ts";
import type { ClientEvent } from "./events.ts";
import type { Mutation } from "./queue/mutation.ts";
import type { ClientState, QueueState } from "./state.ts";

/**
 * The mutable state inside one `step`, and the effects that the step requests. The first change copies the state, and
 * the copy may be changed until the step returns it. A step without a change returns the state that it was given.
 */
export interface Draft {
  state: ClientState;
  /** What the step began with. */
  readonly before?: ClientState;
  readonly effects: Effect[];
  readonly now: number;
  /** By the wall clock, in the complete machine. */
  readonly wall?: number | undefined;
  readonly roll: number;
  /** How texts are merged, if the schema has fields for that. `loading`: its code is not there yet. */
  readonly merging?: MergeText | "loading" | undefined;
}

export const draftOf = (state: ClientState, { now, roll }: ClientEvent, merging?: Draft["merging"]): Draft => ({
  state,
  before: state,
  effects: [],
  now,
  roll,
  merging,
});

/** Changes fields of one machine, which the caller names: `set<QueueState>(draft, { sending })`. */
export function set<Machine extends object = never>(draft: Draft, change: NoInfer<Partial<Machine>>): void {
  Object.assign(ownState(draft), change);
}

function ownState(draft: Draft): ClientState {
  if (draft.state === draft.before) draft.state = { ...draft.state, touched: [], appended: [] };
  return draft.state;
}

export const emit = (draft: Draft, effect: Effect): void => void draft.effects.push(effect);

/** The leader stores the outcomes of writes. Followers receive them as messages and keep them in memory. */
export function keep(draft: Draft, mutations: readonly Mutation[]): void {
  const { generation } = draft.state;
  if (generation !== undefined && mutations.length > 0) emit(draft, { do: "keep", mutations, generation });
}

/** Marks records whose view may have changed. */
export function touch(draft: Draft, keys: readonly string[] | "everything"): void {
  const { touched } = ownState(draft);
  if (touched === "everything") return;
  if (keys === "everything") return set<QueueState>(draft, { touched: keys });
  // The list belongs to this step, so it may grow in place. Copying it for every write would be quadratic in the queue
  // length.
  for (const key of keys) (touched as string[]).push(key);
}
