/**
 * The suite's own models. They are added to the schema that a tenant has, under fixed names, so that the next run finds
 * them there. Records of other models are left alone.
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

/** A model with a field of every type, filed under its deck. Its name has both cases on purpose. */
export const NOTE = "ConfNote";
/** Judged as a whole when it is stale; in no group but the organization's. */
export const WHOLE = "ConfWhole";
/** Has required fields and a default. */
export const STRICT = "ConfStrict";
/** Written by the cases on webhooks only, so that receivers get little that is not for them. */
export const HOOK = "ConfHook";
/** Written by nobody: endpoints that are to stay silent subscribe to it. */
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

/** Added only where a tenant has no `favorite` yet. */
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
