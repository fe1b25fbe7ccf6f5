import { type Static, Type } from "typebox";

export const FIELD_TYPES = ["string", "number", "integer", "boolean", "datetime", "enum", "array", "json"] as const;
export type FieldType = (typeof FIELD_TYPES)[number];

const strict = { additionalProperties: false };
const Name = Type.String({ pattern: "^[A-Za-z][A-Za-z0-9_]{0,62}$" });

/** One declared field. `default` fills an absent value on create; `nullable` admits null. */
export const Field = Type.Object(
  {
    /** What values it holds; types are never coerced. */
    type: Type.Union(FIELD_TYPES.map((type) => Type.Literal(type))),
    /** A create has to bring it, unless there is a default. */
    required: Type.Optional(Type.Boolean()),
    /** Whether null is a value of it. */
    nullable: Type.Optional(Type.Boolean()),
    /** What a create is given that does not bring it. */
    default: Type.Optional(Type.Unknown()),
    /** Whether lists by it are made fast. */
    index: Type.Optional(Type.Boolean()),
    /** Of an enum: what it may be. */
    values: Type.Optional(Type.Array(Type.String(), { minItems: 1 })),
    /** Of a string, or an array of them: the model whose records it names by their ids. */
    references: Type.Optional(Type.String()),
  },
  strict,
);
export type Field = Omit<Static<typeof Field>, "type"> & { readonly type: FieldType };

/** A record is filed under `<kind>:<value of the field "from">`; `from` may be `id`. */
export const GroupRule = Type.Object({ kind: Type.String({ pattern: "^[a-z][a-z0-9_]*$" }), from: Name }, strict);
export type GroupRule = Static<typeof GroupRule>;

export const Model = Type.Object(
  {
    /** Field name → what it holds. `id` need not be declared. */
    fields: Type.Record(Type.String(), Field),
    /** The sync groups that a record is filed under, besides `org:<organization>`. */
    groups: Type.Optional(Type.Array(GroupRule)),
    /** What a stale check compares: single fields (default) or the record as a whole. */
    conflict: Type.Optional(Type.Union([Type.Literal("field"), Type.Literal("record")])),
  },
  strict,
);
export interface Model {
  readonly fields: Readonly<Record<string, Field>>;
  readonly groups?: readonly GroupRule[];
  readonly conflict?: "field" | "record";
}

/** The models of one organization in one environment, as pushed: data, interpreted, never compiled. */
export interface ModelSchema {
  readonly models: Readonly<Record<string, Model>>;
}

/** A field that goes on under another name: what is stored, and what older entries of the log say, goes with it. */
export const Rename = Type.Object({ model: Type.String(), from: Type.String(), to: Type.String() }, strict);
export type Rename = Static<typeof Rename>;

export const SchemaPush = Type.Object(
  {
    models: Type.Record(Type.String(), Model),
    /** Lands also when it hides data: that stays stored, and comes back when it is declared again. */
    force: Type.Optional(Type.Boolean()),
    renames: Type.Optional(Type.Array(Rename, { maxItems: 1_000 })),
  },
  strict,
);
export interface SchemaPush extends ModelSchema {
  readonly force?: boolean;
  readonly renames?: readonly Rename[];
}

export const SchemaPushed = Type.Object({
  object: Type.Literal("schema"),
  version: Type.Integer(),
  hash: Type.String(),
  /** It was the same as before. */
  unchanged: Type.Boolean(),
  warnings: Type.Array(Type.String()),
});
export type SchemaPushed = Static<typeof SchemaPushed>;

export const SchemaRead = Type.Object({
  object: Type.Literal("schema"),
  version: Type.Integer(),
  hash: Type.String(),
  models: Type.Record(Type.String(), Model),
});
export type SchemaRead = Omit<Static<typeof SchemaRead>, "models"> & ModelSchema;
