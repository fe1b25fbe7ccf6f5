import { type Static, Type } from "typebox";

export const FIELD_TYPES = ["string", "number", "integer", "boolean", "datetime", "enum", "array", "json"] as const;
export type FieldType = (typeof FIELD_TYPES)[number];

/** What the items of an array can be. */
export const ITEM_TYPES = ["string", "number", "integer", "boolean"] as const;
export type ItemType = (typeof ITEM_TYPES)[number];

/** What becomes of a record when one that it references is deleted. */
export const ON_DELETE = ["cascade", "setNull", "restrict", "nothing"] as const;
export type OnDelete = (typeof ON_DELETE)[number];

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
    /** Whether lists that filter or sort by it get an index; for a string, `"text"`: lists that search it. */
    index: Type.Optional(Type.Union([Type.Boolean(), Type.Literal("text")])),
    /** For an enum: its values. */
    values: Type.Optional(Type.Array(Type.String(), { minItems: 1 })),
    /** For a string, or an array of strings: the model whose ids it contains. */
    references: Type.Optional(Type.String()),
    /**
     * For a field that references: the server checks that the records exist, and does this with a record that has the id
     * of one that is deleted. Without it nothing is checked.
     */
    onDelete: Type.Optional(Type.Union(ON_DELETE.map((what) => Type.Literal(what)))),
    /**
     * No two records have the same value: `true` for this field alone, or the names of the fields whose values count
     * together, this field's among them. Records without one of the values never collide.
     */
    unique: Type.Optional(Type.Union([Type.Literal(true), Type.Array(Type.String(), { minItems: 1, maxItems: 8 })])),
    /** For a field that references: the name under which queries of that model include the records that reference it. */
    inverse: Type.Optional(Name),
    /** For an array: what each of its items is. */
    items: Type.Optional(Type.Union(ITEM_TYPES.map((type) => Type.Literal(type)))),
    /** For a string: the fewest characters; for an array: the fewest items. */
    minLength: Type.Optional(Type.Integer({ minimum: 0 })),
    /** For a string: the most characters, as Unicode counts them; for an array: the most items. */
    maxLength: Type.Optional(Type.Integer({ minimum: 0 })),
    /** For a number or integer: the least value. */
    min: Type.Optional(Type.Number()),
    /** For a number or integer: the greatest value. */
    max: Type.Optional(Type.Number()),
    /** A create can set it, an update cannot. */
    readonlyAfterCreate: Type.Optional(Type.Boolean()),
    /** For a string: a regular expression that the whole text matches, without lookaround and references. */
    pattern: Type.Optional(Type.String({ maxLength: 200 })),
    /** For an enum: value → the values that an update can change it to. One that is not listed stays. */
    transitions: Type.Optional(Type.Record(Type.String(), Type.Array(Type.String()))),
    /** Who can change it: `$createdBy`, `group:<a group of the token>`. A secret key always can. */
    writableBy: Type.Optional(Type.Array(Type.String(), { maxItems: 100 })),
    /** For a string: clients merge it word by word when two people have changed it. */
    merge: Type.Optional(Type.Literal("text")),
  },
  strict,
);
export type Field = Omit<
  Static<typeof Field>,
  "type" | "values" | "items" | "transitions" | "writableBy" | "unique" | "onDelete"
> & {
  readonly type: FieldType;
  /** For a field that references: it is checked, and this happens when the record that it references is deleted. */
  readonly onDelete?: OnDelete;
  /** `true`, or the fields whose values count together. */
  readonly unique?: true | readonly string[];
  /** For an enum. Readonly, so that a list `as const` of the app's own fits. */
  readonly values?: readonly string[];
  /** For an array: what each of its items is. */
  readonly items?: ItemType;
  /** For an enum: value → the values that an update can change it to. One that is not listed stays. */
  readonly transitions?: Readonly<Record<string, readonly string[]>>;
  /** Who can change it: `$createdBy`, `group:<a group of the token>`. A secret key always can. */
  readonly writableBy?: readonly string[];
};

/** A record is filed under `<kind>:<value of the field "from">`; `from` may be `id`. */
export const GroupRule = Type.Object({ kind: Type.String({ pattern: "^[a-z][a-z0-9_]*$" }), from: Name }, strict);
export type GroupRule = Static<typeof GroupRule>;

/** A table of the caller's own, in the server's database, whose rows are the records of a model. */
export const ModelTable = Type.Object(
  {
    /** The table as SQL names it: `public.slides`. */
    name: Type.String(),
    /** The column whose value is the record's id. */
    key: Type.String(),
    /** Field name → column, for fields whose column is not the field's name in snake_case. */
    columns: Type.Optional(Type.Record(Type.String(), Type.String())),
    /** The column that says since when a record is archived, and is no field. Without it, only Holdfast knows. */
    archived: Type.Optional(Type.String()),
  },
  strict,
);
export interface ModelTable {
  readonly name: string;
  readonly key: string;
  readonly columns?: Readonly<Record<string, string>>;
  readonly archived?: string;
}

export const Model = Type.Object(
  {
    /** Field name → its declaration. `id` need not be declared. */
    fields: Type.Record(Type.String(), Field),
    /** The sync groups of a record, besides `org:<organization>`. */
    groups: Type.Optional(Type.Array(GroupRule)),
    /** What a stale check compares: single fields (default) or the record as a whole. */
    conflict: Type.Optional(Type.Union([Type.Literal("field"), Type.Literal("record")])),
    /** Who can create, change, archive and delete its records: see a field's `writableBy`. */
    writableBy: Type.Optional(Type.Array(Type.String(), { maxItems: 100 })),
    /** The attached table that has its records as rows. Without it they are stored beside the log. */
    table: Type.Optional(ModelTable),
    /** The endpoint datasource that has its records; what is stored beside the log are copies. */
    source: Type.Optional(Type.String()),
  },
  strict,
);
export interface Model {
  readonly fields: Readonly<Record<string, Field>>;
  readonly groups?: readonly GroupRule[];
  readonly conflict?: "field" | "record";
  readonly writableBy?: readonly string[];
  readonly table?: ModelTable;
  readonly source?: string;
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
