import { expect, test } from "vitest";
import { isSyncError } from "./errors.ts";
import { checkOptions } from "./options.ts";
import { defineSchema } from "./protocol/schema/row-types.ts";

const schema = defineSchema({ models: { slide: { fields: { title: { type: "string" } } } } });
const good = { schema, url: "https://sync.example.com/api", getToken: () => "t" };

test("[N11] defaults are filled in, and the store is named after the server", () => {
  expect(checkOptions(good)).toMatchObject({
    store: "holdfast:sync.example.com",
    paused: false,
    requestTimeoutMs: 30_000,
    releasedParts: 20,
    releasedRows: 20_000,
  });
});

test.each([
  ["a relative url", { url: "/api" }, /absolute http or https/],
  ["a socket's url", { url: "wss://x" }, /absolute http or https/],
  ["no schema", { schema: undefined }, /schema with at least one model/],
  ["an empty schema", { schema: { models: {} } }, /schema with at least one model/],
  ["a token instead of a function", { getToken: "token" }, /getToken must be a function/],
  ["an empty store", { store: "" }, /store/],
  ["an owner without an organization", { owner: { participant: "ann" } }, /owner must have an organization/],
  ["an owner with a slash", { owner: { organization: "a/b", participant: "ann" } }, /owner must have an organization/],
  ["a clientId with a space", { clientId: "a b" }, /clientId must be/],
  ["a clientId that is too long", { clientId: "x".repeat(65) }, /clientId must be/],
  ["no time at all", { requestTimeoutMs: 0 }, /requestTimeoutMs/],
  ["fewer than no parts", { releasedParts: -1 }, /releasedParts must be 0 or more/],
  ["rows that are no number", { releasedRows: "all" }, /releasedRows must be 0 or more/],
  ["parts that are null", { releasedParts: null }, /releasedParts must be 0 or more/],
  ["a number as a text", { releasedRows: "5" }, /releasedRows must be 0 or more/],
  ["a time that is no number", { requestTimeoutMs: Number.NaN }, /requestTimeoutMs/],
])("[N11] %s is refused with a sentence", (_, wrong, sentence) => {
  let error: unknown;
  try {
    checkOptions({ ...good, ...wrong } as never);
  } catch (thrown) {
    error = thrown;
  }
  expect(isSyncError(error) && error.code).toBe("invalid_options");
  expect(String(error)).toMatch(sentence);
});

test("[N26] no released part, or all of them, may stay", () => {
  expect(checkOptions({ ...good, releasedParts: 0, releasedRows: Number.POSITIVE_INFINITY })).toMatchObject({
    releasedParts: 0,
    releasedRows: Number.POSITIVE_INFINITY,
  });
});
