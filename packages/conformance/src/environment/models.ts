/**
 * The suite's own models. The suite adds them to the tenant's schema under fixed names, so that the next run finds
 * them there. It does not touch records of other models.
 */
export interface ModelShape {
  readonly fields: Readonly<Record<string, FieldShape>>;
  readonly groups?: readonly { readonly kind: string; readonly from: string }[];
  readonly conflict?: "field" | "record";
}

export interface FieldShape {
  readonly type: string;
  readonly required?: boolean;
  readonly nullable?: boolean;
  readonly default?: unknown;
  readonly index?: boolean;
  readonly values?: readonly string[];
}

export type Models = Readonly<Record<string, ModelShape>>;

/** A model with a field of every type, in the group of its deck. Its name is in mixed case to test matching. */
export const NOTE = "ConfNote";
/** Any newer entry makes a write of it stale; its records are only in the organization's group. */
export const WHOLE = "ConfWhole";
/** Has required fields and a default. */
export const STRICT = "ConfStrict";
/** Only the cases on webhooks write it, so that receivers get few other events. */
export const HOOK = "ConfHook";
/** No case writes it: endpoints that must get no request subscribe to it. */
export const QUIET = "ConfQuiet";
export const FAVORITE = "favorite";

export const ownModels: Models = {
  [NOTE]: {
    fields: {
      deckId: { type: "string" },
      title: { type: "string" },
      body: { type: "string", nullable: true },
      order: { type: "number", default: 0, index: true },
      count: { type: "integer" },
      done: { type: "boolean" },
      at: { type: "datetime" },
      state: { type: "enum", values: ["draft", "final"] },
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
