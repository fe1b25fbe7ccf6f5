/**
 * The suite's own models. The suite adds them to the tenant's schema under fixed names, so that the next run finds
 * them there. It does not touch records of other models.
 */
export interface ModelShape {
  readonly fields: Readonly<Record<string, FieldShape>>;
  readonly groups?: readonly { readonly kind: string; readonly from: string }[];
  readonly conflict?: "field" | "record";
  readonly writableBy?: readonly string[];
  /** Where its records are, if not beside the log: the suite keeps what the tenant's owner has set. */
  readonly table?: object;
  readonly source?: string;
}

export interface FieldShape {
  readonly type: string;
  readonly required?: boolean;
  readonly nullable?: boolean;
  readonly default?: unknown;
  readonly index?: boolean | "text";
  readonly values?: readonly string[];
  readonly items?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly min?: number;
  readonly max?: number;
  readonly readonlyAfterCreate?: boolean;
  readonly merge?: "text";
  readonly pattern?: string;
  readonly transitions?: Readonly<Record<string, readonly string[]>>;
  readonly writableBy?: readonly string[];
  readonly references?: string;
  readonly onDelete?: "cascade" | "setNull" | "restrict" | "nothing";
  readonly unique?: true | readonly string[];
}

export type Models = Readonly<Record<string, ModelShape>>;

/** A model with a field of every type, in the group of its deck. Its name is in mixed case to test matching. */
export const NOTE = "ConfNote";
/** Any newer entry makes a write of it stale; its records are only in the organization's group. */
export const WHOLE = "ConfWhole";
/** Has required fields and a default. */
export const STRICT = "ConfStrict";
/** Its fields have rules that depend on the record and its writer. */
export const RULED = "ConfRuled";
/** Only its creator and members of a group write it. */
export const OWNED = "ConfOwned";
/** Only the cases on webhooks write it, so that receivers get few other events. */
export const HOOK = "ConfHook";
/** No case writes it: endpoints that must get no request subscribe to it. */
export const QUIET = "ConfQuiet";
export const FAVORITE = "favorite";

export const ownModels: Models = {
  [NOTE]: {
    fields: {
      deckId: { type: "string" },
      title: { type: "string", index: "text" },
      body: { type: "string", nullable: true, index: "text" },
      order: { type: "number", default: 0, index: true },
      count: { type: "integer" },
      done: { type: "boolean" },
      at: { type: "datetime" },
      state: { type: "enum", values: ["draft", "final", "archive"] },
      tags: { type: "array" },
      extra: { type: "json", nullable: true },
    },
    groups: [{ kind: "confdeck", from: "deckId" }],
  },
  [WHOLE]: { fields: { left: { type: "string" }, right: { type: "string" } }, conflict: "record" },
  [STRICT]: {
    fields: {
      name: { type: "string", required: true },
      size: { type: "number", required: true },
      tier: { type: "string", default: "plain" },
      note: { type: "string", nullable: true },
    },
  },
  [RULED]: {
    fields: {
      deckId: { type: "string" },
      slug: { type: "string", pattern: "[a-z]+(-[a-z]+)*" },
      state: {
        type: "enum",
        values: ["todo", "doing", "done"],
        default: "todo",
        transitions: { todo: ["doing"], doing: ["todo", "done"] },
      },
      own: { type: "string", writableBy: ["$createdBy"] },
      votes: { type: "number", writableBy: ["$createdBy", "group:confrole:owner"] },
      kept: { type: "string", writableBy: [] },
      author: { type: "string", default: "$participant" },
      since: { type: "datetime", default: "$now" },
    },
    groups: [{ kind: "confdeck", from: "deckId" }],
  },
  [OWNED]: {
    fields: { deckId: { type: "string", index: true }, title: { type: "string" } },
    groups: [{ kind: "confdeck", from: "deckId" }],
    writableBy: ["$createdBy", "group:confrole:owner"],
  },
  [HOOK]: {
    fields: {
      deckId: { type: "string" },
      title: { type: "string" },
      order: { type: "number", default: 0 },
      extra: { type: "json", nullable: true },
    },
    groups: [{ kind: "confdeck", from: "deckId" }],
  },
  [QUIET]: { fields: { title: { type: "string" } } },
};

/** The suite adds it only if the tenant has no `favorite` yet. */
export const favoriteModel: Models = {
  [FAVORITE]: {
    fields: {
      userId: { type: "string" },
      model: { type: "string" },
      recordId: { type: "string" },
      order: { type: "number" },
    },
    groups: [{ kind: "user", from: "userId" }],
  },
};
