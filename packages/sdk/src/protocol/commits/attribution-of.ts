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

const ATTRIBUTION = ["reason", "run", "onBehalfOf", "meta"] as const;

/** The given keys, in one order. Undefined: there are none. */
export function attributionOf(given: { readonly [key in keyof Attribution]?: unknown }): Attribution | undefined {
  const entries = ATTRIBUTION.flatMap((key) => (given[key] === undefined ? [] : [[key, given[key]]]));
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}
