import * as protocol from "@holdfast/sdk/protocol";
import { type TSchema, Type } from "typebox";
import { docstrings } from "../docs/docstrings.ts";

/** A JSON schema, or another part of the description. */
export type Plain = { [key: string]: unknown };

/** The named schemas in `components.schemas`. Each is generated on first use. */
export interface Schemas {
  /** The schema for use in place: a reference if it has a name. */
  of(schema: TSchema): Plain;
  /** The full schema, even if it has a name. */
  whole(schema: TSchema): Plain;
  /** Adds a part of the description under its own name. */
  put(name: string, schema: Plain): Plain;
  all(): Readonly<Record<string, Plain>>;
}

export const refTo = (name: string): Plain => ({ $ref: `#/components/schemas/${name}` });

/** `amend` may change a named schema: request bodies may have more spellings than the internal schema allows. */
export function createSchemas(amend: (name: string, schema: Plain) => Plain): Schemas {
  const names = namesOfSchemas();
  const written: Record<string, Plain> = {};

  function named(name: string, docs: string, schema: TSchema): Plain {
    if (!Object.hasOwn(written, name)) {
      written[name] = {};
      written[name] = amend(name, plain(schema, docstrings[docs] ?? {}, ""));
    }
    return refTo(name);
  }

  function of(schema: TSchema): Plain {
    const name = names.get(identityOf(schema));
    if (name !== undefined) return named(name, name, schema);
    const list = nameOfList(schema, names);
    return list === undefined ? plain(schema, {}, "") : named(list, "ListEnvelope", schema);
  }

  /** Generates a nested schema. `path` is its location, for the docstrings. */
  function inside(schema: TSchema, docs: Docs, path: string): Plain {
    const said = docs[path] === undefined ? {} : { description: docs[path] };
    return names.has(identityOf(schema)) ? { ...of(schema), ...said } : { ...plain(schema, docs, path), ...said };
  }

  function plain(schema: TSchema, docs: Docs, path: string): Plain {
    const { properties, items, anyOf, allOf, patternProperties, ...rest } = schema as TSchema & Parts;
    const own: Plain = { ...(path === "" && docs[""] !== undefined && { description: docs[""] }), ...rest };
    if (anyOf)
      return {
        ...own,
        ...choice(anyOf.map((one) => without(inside(one, docs, path === "" ? "-" : path), "description"))),
      };
    if (allOf)
      return { ...own, allOf: allOf.map((one) => without(inside(one, docs, path === "" ? "-" : path), "description")) };
    if (items) return { ...own, items: without(inside(items, docs, path), "description") };
    if (patternProperties) {
      const [values = {}] = Object.values(patternProperties).map((one) => inside(one, {}, "-"));
      return { ...own, additionalProperties: Object.keys(values).length === 0 ? true : values };
    }
    if (!properties) return own;
    const at = (name: string) => (path === "" ? name : `${path}.${name}`);
    return {
      ...own,
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, one]) => [name, inside(one, docs, at(name))]),
      ),
    };
  }

  return {
    of,
    whole(schema) {
      const { $ref } = of(schema);
      return written[String($ref).split("/").at(-1) ?? ""] ?? of(schema);
    },
    put(name, schema) {
      written[name] = schema;
      return refTo(name);
    },
    all: () => Object.fromEntries(Object.entries(written).sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}

type Docs = Readonly<Record<string, string>>;
interface Parts {
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly items?: TSchema;
  readonly anyOf?: readonly TSchema[];
  readonly allOf?: readonly TSchema[];
  readonly patternProperties?: Readonly<Record<string, TSchema>>;
}

/** An optional schema is a copy, but shares its properties with the original. */
const identityOf = (schema: TSchema & Parts): object => schema.properties ?? schema.anyOf ?? schema;

/** A schema that the protocol exports keeps its exported name. */
const namesOfSchemas = (): ReadonlyMap<object, string> =>
  new Map(
    Object.entries(protocol as Readonly<Record<string, unknown>>).flatMap(([name, value]): [object, string][] =>
      Type.IsSchema(value) ? [[identityOf(value), name]] : [],
    ),
  );

/** Names a list after its elements. */
function nameOfList(schema: TSchema, names: ReadonlyMap<object, string>): string | undefined {
  const { object, data } = (schema as TSchema & Parts).properties ?? {};
  if ((object as { const?: unknown } | undefined)?.const !== "list") return undefined;
  const item = (data as (TSchema & Parts) | undefined)?.items;
  if (!item) return undefined;
  const name = names.get(identityOf(item));
  return name !== undefined ? `${name}List` : "patternProperties" in item ? "RecordList" : undefined;
}

/** A choice of strings becomes an enum, and "or null" a second type: code generators handle these best. */
function choice(parts: readonly Plain[]): Plain {
  const rest = parts.filter(({ type }) => type !== "null");
  const nullable = rest.length < parts.length;
  if (rest.length > 0 && rest.every((part) => typeof part.const === "string"))
    return {
      type: nullable ? ["string", "null"] : "string",
      enum: [...rest.map((part) => part.const), ...(nullable ? [null] : [])],
    };
  const [only] = rest;
  if (nullable && rest.length === 1 && only && typeof only.type === "string")
    return { ...only, type: [only.type, "null"] };
  return { anyOf: parts };
}

/** The same schema, nullable. */
export function orNull(schema: Plain): Plain {
  if (typeof schema.type === "string")
    return {
      ...schema,
      type: [schema.type, "null"],
      ...(Array.isArray(schema.enum) && { enum: [...schema.enum, null] }),
    };
  const { description, ...rest } = schema;
  return Object.keys(rest).length === 0 || Array.isArray(schema.type)
    ? schema
    : { ...(description !== undefined && { description }), anyOf: [rest, { type: "null" }] };
}

function without(schema: Plain, key: string): Plain {
  const { [key]: _, ...rest } = schema;
  return rest;
}
