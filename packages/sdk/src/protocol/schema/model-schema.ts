import { type Static, Type } from "typebox";

export const FIELD_TYPES = ["string", "number", "integer", "boolean", "datetime", "enum", "array", "json"] as const;
export type FieldType = (typeof FIELD_TYPES)[number];

const strict = { additionalProperties: false };
const Name = Type.String({ pattern: "^[A-Za-z][A-Za-z0-9_]{0,62}$" });

/** One declared field. `default` fills an absent value on create; `nullable` admits null. */
export const Field = Type.Object(
  {
    /** The type of its values; they are never coerced. */
    type: Type.Union(FIELD_TYPES.map((type) => Type.Literal(type))),
    /** A create must have a value, unless there is a default. */
    required: Type.Optional(Type.Boolean()),
    /** Whether it can be null. */
    nullable: Type.Optional(Type.Boolean()),
    /** The value that a create gets if it has none. */
    default: Type.Optional(Type.Unknown()),
    /** Whether lists that filter or sort by it get an index. */
    index: Type.Optional(Type.Boolean()),
    /** For an enum: its values. */
    values: Type.Optional(Type.Array(Type.String(), { minItems: 1 })),
    /** For a string, or an array of strings: the model whose ids it contains. */
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
    /** Field name → its declaration. `id` need not be declared. */
    fields: Type.Record(Type.String(), Field),
    /** The sync groups of a record, besides `org:<organization>`. */
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

/** A field with a new name. Stored values and older log entries are renamed with it. */
export const Rename = Type.Object({ model: Type.String(), from: Type.String(), to: Type.String() }, strict);
export type Rename = Static<typeof Rename>;

export const SchemaPush = Type.Object(
  {
    models: Type.Record(Type.String(), Model),
    /** Pushes even if it hides data. Hidden data stays stored and returns when it is declared again. */
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
  /** The schema was already the same. */
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
