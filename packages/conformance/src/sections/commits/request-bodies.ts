import { NOTE } from "../../environment/models.ts";
import { check, checkEach, type SuiteSection } from "../../kit/section.ts";

const notes = `/v1/models/${NOTE}`;
const utf8 = (text: string) => Buffer.from(text, "utf8");

const NO_JSON: readonly (readonly [what: string, bytes: string | Buffer, code: string])[] = [
  ["is cut off", '{"id":"x","data":{', "invalid_json"],
  ["has a comma too many", '{"id":"x",}', "invalid_json"],
  ["holds two values", "{}{}", "invalid_json"],
  ["has a comment", "{}//", "invalid_json"],
  ["says NaN", '{"id":NaN}', "invalid_json"],
  ["has single quotes", "{'id':1}", "invalid_json"],
  ["is UTF-16", Buffer.from("{}", "utf16le"), "invalid_json"],
  ["is not UTF-8", Buffer.from([0x22, 0xff, 0x22]), "invalid_encoding"],
  ["has a surrogate in UTF-8", Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), "invalid_encoding"],
  ["is empty", "", "invalid_body"],
  ["is a list", "[]", "invalid_body"],
  ["is null", "null", "invalid_body"],
  ["is a number", "1", "invalid_body"],
];

const SHAPES: readonly (readonly [what: string, change: object, code: string, param: string])[] = [
  ["with an unknown key", { extra: 1 }, "unknown_field", "extra"],
  ["without data", { data: undefined }, "missing_field", "data"],
  ["without an id", { id: undefined }, "missing_field", "id"],
  ["whose data is null", { data: null }, "missing_field", "data"],
  ["whose data is a list", { data: [] }, "invalid_type", "data"],
  ["whose data is a text", { data: "{}" }, "invalid_type", "data"],
  ["whose id is a number", { id: 5 }, "invalid_type", "id"],
  ["whose readAt is a text", { readAt: "1" }, "invalid_type", "readAt"],
  ["whose readAt is below zero", { readAt: -1 }, "invalid_value", "readAt"],
  ["whose readAt has a fraction", { readAt: 1.5 }, "invalid_type", "readAt"],
  ["whose readAt is true", { readAt: true }, "invalid_type", "readAt"],
  ["whose claim is a number", { claim: 1 }, "invalid_type", "claim"],
  ["with an undeclared field in data", { data: { colour: "red" } }, "unknown_field", "data.colour"],
];

const COERCIONS: readonly (readonly [field: string, value: unknown])[] = [
  ["order", "5"],
  ["order", true],
  ["order", [5]],
  ["count", "1"],
  ["count", 1.5],
  ["done", "true"],
  ["done", 1],
  ["title", 5],
  ["title", null],
  ["title", { a: 1 }],
  ["at", 0],
  ["tags", "a"],
  ["tags", { 0: "a" }],
];

const NULLS = ["claim", "intent", "onStale", "readAt", "idempotencyKey", "clientTxId", "clientId"];

export const section: SuiteSection = {
  title: "Request bodies",
  cases: [
    ...checkEach(
      NO_JSON,
      ([what, , code]) => `[H4] A body that ${what}: 400 ${code}.`,
      async ({ ask, refused }, [, bytes, code]) => refused(await ask("POST", notes, { bytes }), code),
    ),
    ...checkEach(
      ["text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin1", ""],
      (type) => `[H4] A body of content type "${type}": 415 unsupported_media_type.`,
      async ({ ask, id, refused }, type) =>
        refused(
          await ask("POST", notes, {
            bytes: JSON.stringify({ id: id(), data: {} }),
            headers: { "content-type": type },
          }),
          "unsupported_media_type",
        ),
    ),
    check("A body of content type application/json with charset=utf-8 is accepted.", async (t) => {
      const bytes = utf8(JSON.stringify({ id: t.id(), data: { title: "grün 日本 🙂" } }));
      const headers = { "content-type": "application/json; charset=utf-8" };
      t.answered(await t.ask("POST", notes, { bytes, headers }), 200, { status: "confirmed" });
    }),
    ...checkEach(
      SHAPES,
      ([what, , code, param]) => `[H4] A create ${what}: 400 ${code}, param ${param}, and nothing is written.`,
      async (t, [, change, code, param]) => {
        const id = t.id();
        t.refused(await t.post(notes, { id, data: { title: "x" }, ...change }), code, { param });
        t.refused(await t.get(`${notes}/${id}`), "record_not_found");
      },
    ),
    check("An unknown value of onStale is 400.", async (t) => {
      for (const onStale of ["maybe", "toString", ""]) {
        const answer = await t.post(notes, { id: t.id(), data: {}, onStale });
        t.refused(answer, "invalid_value", { param: "onStale" });
      }
    }),
    check("An unknown key of an operation or of a batch is 400 unknown_field.", async (t) => {
      const operation = { action: "create", model: NOTE, id: t.id(), data: {} };
      t.refused(await t.commit([{ ...operation, colour: 1 }]), "unknown_field", { param: "operations[0].colour" });
      t.refused(await t.commit([operation], { colour: 1 }), "unknown_field", { param: "colour" });
    }),
    ...checkEach(
      COERCIONS,
      ([field, value]) => `[H4] Types are not coerced: ${field} given as ${JSON.stringify(value)} is 400 invalid_type.`,
      async ({ post, id, refused }, [field, value]) =>
        refused(await post(notes, { id: id(), data: { [field]: value } }), "invalid_type", { param: `data.${field}` }),
    ),
    check("The spelling of a number does not matter: 1.0 is an integer.", async (t) => {
      const id = t.id();
      t.answered(await t.ask("POST", notes, { bytes: `{"id":"${id}","data":{"count":1.0,"order":5e0}}` }), 200);
      t.answered(await t.get(`${notes}/${id}`), 200, { data: { count: 1, order: 5 } });
    }),
    ...checkEach(
      NULLS,
      (key) => `[C12] ${key}: null means that ${key} is absent.`,
      async (t, key) => {
        const { path } = await t.note();
        t.answered(await t.patch(path, { data: { title: `null ${key}` }, [key]: null }), 200, { status: "confirmed" });
        t.answered(await t.get(path), 200, { data: { title: `null ${key}` } });
      },
    ),
    check("[C12] Null for an optional key means absent in operations and in entries of reads too.", async (t) => {
      const { id, path, at } = await t.note();
      const nothing = { readAt: null, onStale: null, claim: null, idempotencyKey: null, transactionId: null };
      const operations = [
        { action: "update", model: NOTE, id, data: { title: "two" }, ...nothing },
        { action: "delete", model: NOTE, id: t.id(), data: null },
      ];
      const answer = await t.commit(operations, {
        reads: [{ model: NOTE, id, readAt: at, group: null, fields: null, onStale: null }],
        clientTxId: null,
        clientId: null,
      });
      t.answered(answer, 200, { status: "confirmed" });
      t.answered(await t.get(path), 200, { data: { title: "two" } });
    }),
    check("reads: null means that there are no premises.", async (t) => {
      const answer = await t.commit([{ action: "create", model: NOTE, id: t.id(), data: {} }], { reads: null });
      t.answered(answer, 200, { status: "confirmed" });
    }),
    ...checkEach(
      [
        '{"__proto__":{"admin":true},"id":"x","data":{}}',
        '{"id":"x","data":{"extra":{"__proto__":{"admin":true}}}}',
        '{"id":"x","data":{"\\u005f_proto__":{"admin":true}}}',
      ],
      (bytes) => `[H9] The key __proto__ is 400 invalid_value: ${bytes}.`,
      async (t, bytes) => t.refused(await t.ask("POST", notes, { bytes }), "invalid_value"),
    ),
    check("[H4] Of two equal keys the last one counts, and a byte order mark is skipped.", async (t) => {
      const id = t.id();
      const bytes = `\ufeff{"id":"${t.id()}","id":"${id}","data":{"title":"a","title":"b"}}`;
      t.answered(await t.ask("POST", notes, { bytes }), 200, { status: "confirmed" });
      t.answered(await t.get(`${notes}/${id}`), 200, { data: { title: "b" } });
    }),
    check("[H4] A body with 80 000 unknown fields is 400 in little time.", async (t) => {
      const bytes = `{${Array.from({ length: 80_000 }, (_, i) => `"k${i}":1`).join(",")}}`;
      const begun = performance.now();
      t.answered(await t.ask("POST", notes, { bytes }), 400, { type: "validation_error" });
      t.that(performance.now() - begun < 25_000, "an answer in little time");
    }),
  ],
};
