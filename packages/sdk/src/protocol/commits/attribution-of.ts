/** Why a commit or a claim was made: for people and audits. */
export interface Attribution {
  /** Why, in a sentence for people, up to 1 000 characters. */
  readonly reason?: string;
  /** What the author is doing, by its own name, up to 255 characters: all that an agent changes for one request has the same one. */
  readonly run?: string;
  /** For whom, `<kind>:<id>`. The token's `onBehalfOf` has to name them, else the write is refused. The author stays the author. */
  readonly onBehalfOf?: string;
  /** The author's own notes, up to 4 KiB of JSON. */
  readonly meta?: Readonly<Record<string, unknown>>;
}

/** Why a change was made. */
export interface ChangeAttribution extends Attribution {
  /** The proposal that was accepted. Its decider is the author of the change. */
  readonly proposal?: string;
  /** Who proposed it, `<kind>:<id>`. */
  readonly proposedBy?: string;
}

const ATTRIBUTION = ["reason", "run", "onBehalfOf", "meta"] as const;
const OF_CHANGE = [...ATTRIBUTION, "proposal", "proposedBy"] as const;

/** What a request says, in one order. Undefined: nothing. */
export const attributionOf = (given: { readonly [key in keyof Attribution]?: unknown }): Attribution | undefined =>
  keysOf<Attribution>(given, ATTRIBUTION);

/** What a change says, in one order. Undefined: nothing. */
export const changeAttributionOf = (
  given: {
    readonly [key in keyof ChangeAttribution]?: unknown;
  },
): ChangeAttribution | undefined => keysOf<ChangeAttribution>(given, OF_CHANGE);

function keysOf<T>(given: { readonly [key in keyof T]?: unknown }, keys: readonly (keyof T)[]): T | undefined {
  const entries = keys.flatMap((key) => (given[key] === undefined ? [] : [[key, given[key]]]));
  return entries.length === 0 ? undefined : (Object.fromEntries(entries) as T);
}
