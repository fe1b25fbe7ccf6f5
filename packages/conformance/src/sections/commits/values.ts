import { NOTE } from "../../environment/models.ts";
import type { Kit } from "../../kit/kit.ts";
import { check, checkEach, type SuiteSection } from "../../kit/section.ts";
import { dataOf } from "../../protocol/answers.ts";

const notes = `/v1/models/${NOTE}`;

/** Sends a field's value with this exact JSON. */
const send = (t: Kit, id: string, field: string, spelled: string) =>
  t.ask("POST", notes, { bytes: `{"id":"${id}","data":{"${field}":${spelled}}}` });

const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);

const REFUSED: readonly (readonly [what: string, field: string, spelled: string, param: RegExp])[] = [
  ["\\u0000 in a text", "title", '"a\\u0000b"', /^data\.title$/],
  ["\\u0000 within JSON", "extra", '{"a":["\\u0000"]}', /^data\.extra/],
  ["\\u0000 in a key", "extra", '{"a\\u0000":1}', /^data\.extra/],
  ["a lone high surrogate", "title", '"\\ud800"', /^data\.title$/],
  ["a lone low surrogate", "title", '"x\\udc00"', /^data\.title$/],
  ["a lone surrogate within JSON", "extra", '{"a":"\\ud83d"}', /^data\.extra/],
  ["9007199254740993", "order", "9007199254740993", /^data\.order$/],
  ["-9007199254740992", "count", "-9007199254740992", /^data\.count$/],
  ["-1e999", "order", "-1e999", /^data\.order$/],
  ["1e400, which is infinite", "order", "1e400", /^data\.order$/],
  ["an unsafe integer within JSON", "extra", '{"a":[9007199254740993]}', /^data\.extra/],
  // The body and its data are the first two levels.
  ["a value at level 65", "extra", nested(63), /^data\.extra/],
];

const KEPT: readonly (readonly [what: string, field: string, value: unknown])[] = [
  ["an empty text", "title", ""],
  ["spaces alone", "title", "  \t\n"],
  ["text of every plane", "title", "a\u0001\u007f\u0080\u2028\ufeff\ufffe日本🙂\u{10ffff}"],
  ["decomposed and composed letters, unchanged", "title", "e\u0301 \u00e9"],
  ["text with quotes and backslashes", "title", `"'\\\\; drop table x; -- %_$1`],
  ["the greatest safe integer", "count", Number.MAX_SAFE_INTEGER],
  ["the least safe integer", "count", Number.MIN_SAFE_INTEGER],
  ["the smallest double", "order", 5e-324],
  ["a great double", "order", 6.02e23],
  ["the greatest double", "order", Number.MAX_VALUE],
  ["a double that is written as digits", "order", 2 ** 60],
  ["great doubles within JSON", "extra", { a: [1e300, -6.02e23] }],
  ["a long fraction", "order", 0.1 + 0.2],
  [
    "fractions and small doubles within JSON",
    "extra",
    [
      ...[0.1, 1 / 3, 0.1 + 0.2, 4.35, -1e-7, 123456789.12345679, 1e15, Number.MAX_SAFE_INTEGER],
      ...[5e-324, 1e-323, 2.2250738585072014e-308],
    ],
  ],
  ["a nested value", "extra", { b: [1, "two", { c: null, d: false }], a: [] }],
  ["null where a field is nullable", "body", null],
  ["an empty list", "tags", []],
  ["a list of anything", "tags", [1, "a", null, [2], { b: 3 }]],
];

const DATETIMES = ["2024-02-29T23:59:59Z", "2024-01-01T00:00:00.123456+05:30", "1999-12-31T23:59:59.9-11:00"];
const NO_DATETIMES = [
  ...["2024-02-30T00:00:00Z", "2024-01-01", "2023-02-29T00:00:00Z", "2024-01-01T24:30:00Z", "infinity"],
  ...["2024-01-01T00:00:00", ""],
];

export const section: SuiteSection = {
  title: "Values",
  cases: [
    ...checkEach(
      REFUSED,
      ([what]) =>
        `[H9] A value that the server cannot store is 400 invalid_value, and the error names its place: ${what}.`,
      async (t, [, field, spelled, param]) =>
        t.refused(await send(t, t.id(), field, spelled), "invalid_value", { param }),
    ),
    check(
      "[H9] The server stores 64 levels of JSON; it refuses a million, and other requests are not affected.",
      async (t) => {
        const id = t.id();
        t.answered(await send(t, id, "extra", nested(62)), 200, { status: "confirmed" });
        const read = await t.get(`${notes}/${id}`);
        t.is(JSON.stringify(dataOf(read).extra), nested(62), "the value read back");
        const objects = `${'{"a":'.repeat(150_000)}1${"}".repeat(150_000)}`;
        for (const spelled of [nested(400_000), objects])
          t.refused(await send(t, t.id(), "extra", spelled), "invalid_value");
        t.refused(await t.ask("POST", "/v1/commits", { bytes: nested(1_000_000) }), "invalid_value");
        t.answered(await t.get("/livez"), 200);
      },
    ),
    check("[H9] The server stores 1 000 keys in one object; 1 001 are 400 invalid_value.", async (t) => {
      const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, i]));
      const id = t.id();
      t.answered(await t.post(notes, { id, data: { extra: keys(1_000) } }), 200, { status: "confirmed" });
      t.is(dataOf(await t.get(`${notes}/${id}`)).extra, keys(1_000), "the value read back");
      t.refused(await t.post(notes, { id: t.id(), data: { extra: keys(1_001) } }), "invalid_value", {
        param: "data.extra",
      });
    }),
    ...checkEach(
      KEPT,
      ([what]) =>
        `[L4] ${what[0]?.toUpperCase()}${what.slice(1)}: comes back unchanged from a read, a list and the log.`,
      async (t, [, field, value]) => {
        const id = t.id();
        const created = await t.post(notes, { id, data: { [field]: value } });
        t.answered(created, 200, { status: "confirmed" });
        t.is(dataOf(await t.get(`${notes}/${id}`))[field], value, "the value of the read");
        const list = await t.get(`${notes}?ids=${id}`);
        t.is((list.body.data as Record<string, unknown>[])[0]?.[field], value, "the value in the list");
        const [entry] = await t.entries(Number(created.body.lastSyncId) - 1, [id]);
        t.is(entry?.data?.[field], value, "the value in the log");
      },
    ),
    check("[H9] A number that a double cannot tell from 0 is 0.", async (t) => {
      for (const spelled of ["-0", "1e-400"]) {
        const id = t.id();
        t.answered(await send(t, id, "order", spelled), 200);
        t.is(Number(dataOf(await t.get(`${notes}/${id}`)).order) + 0, 0, spelled);
      }
    }),
    check("[L4] Keys of a JSON value come back in their original order.", async (t) => {
      const id = t.id();
      const spelled = '{"z":1,"a":{"y":1,"b":2},"m":3}';
      t.answered(await send(t, id, "extra", spelled), 200);
      t.that((await t.get(`${notes}/${id}`)).text.includes(`"extra":${spelled}`), `the read to say "extra":${spelled}`);
    }),
    ...checkEach(
      DATETIMES,
      (value) => `The datetime ${value} comes back unchanged.`,
      async (t, value) => {
        const id = t.id();
        t.answered(await t.post(notes, { id, data: { at: value } }), 200);
        t.answered(await t.get(`${notes}/${id}`), 200, { data: { at: value } });
      },
    ),
    ...checkEach(
      NO_DATETIMES,
      (value) => `"${value}" is not an RFC 3339 date-time: 400.`,
      async (t, value) => {
        const answer = await t.post(notes, { id: t.id(), data: { at: value } });
        t.answered(answer, 400, { type: "validation_error", code: /^invalid_(value|type)$/, param: "data.at" });
      },
    ),
    check("A value that an enum does not list is 400.", async (t) => {
      for (const state of ["Draft", "", "toString"]) {
        const answer = await t.post(notes, { id: t.id(), data: { state } });
        t.answered(answer, 400, { code: /^invalid_(value|type)$/, param: "data.state" });
      }
      t.answered(await t.post(notes, { id: t.id(), data: { state: "draft" } }), 200);
    }),
  ],
};
