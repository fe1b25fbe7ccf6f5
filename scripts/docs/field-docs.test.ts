import { expect, test } from "vitest";
import { fieldDocs } from "./field-docs.ts";

const docs = (text: string) => fieldDocs("a.ts", `import { Type } from "typebox";\n${text}`);

test("a schema and its fields are said by the docstrings before them", () => {
  expect(
    docs(`
/** A thing. */
export const Thing = Type.Object({
  /** Its name. */
  name: Type.String(),
  plain: Type.String(),
  /**
   * Said on
   * two lines.
   */
  "two words": Type.Optional(Type.Integer()),
}, { additionalProperties: false });
`),
  ).toEqual({ Thing: { "": "A thing.", name: "Its name.", "two words": "Said on two lines." } });
});

test("fields within fields, in lists, choices and spreads have a path", () => {
  expect(
    docs(`
const Common = { /** When. */ at: Type.String() };
/** Seconds. */
const Ttl = Type.Integer();
export const Outer = Type.Object({
  ...Common,
  ttl: Type.Optional(Ttl),
  parts: Type.Array(Type.Object({ /** Of a part. */ id: Type.String() })),
  either: Type.Union([Type.Object({ /** One. */ one: Type.String() }), Type.Null()]),
});
`),
  ).toEqual({ Outer: { at: "When.", ttl: "Seconds.", "parts.id": "Of a part.", "either.one": "One." } });
});

test("what is exported speaks for itself, and what is no schema says nothing", () => {
  expect(
    docs(`
/** Inner. */
export const Inner = Type.Object({ /** A. */ a: Type.String() });
export const Outer = Type.Object({ inner: Inner, /** B. */ b: Type.String() });
/** Makes lists. */
export const List = (item) => Type.Object({ /** Rows. */ data: Type.Array(item) });
/** Decides. */
export const decide = (one) => one.is(Type.String());
/** Made. */
export const made = decide({});
/** A table. */
export const table = { /** No field. */ a: 1 };
/** A type. */
export type Thing = string;
// No docstring.
export const Bare = Type.Object({ a: Type.String() });
`),
  ).toEqual({ Inner: { "": "Inner.", a: "A." }, Outer: { b: "B." }, List: { "": "Makes lists.", data: "Rows." } });
});
