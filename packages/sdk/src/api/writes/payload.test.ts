import { expect, test } from "vitest";
import { SyncError } from "../../errors.ts";
import { checkId, checkTxId, objectCopy } from "./payload.ts";

const deep = (levels: number): unknown => (levels === 0 ? 1 : { in: deep(levels - 1) });
class Point {
  x = 1;
}

test.each([
  ["undefined", { a: undefined }, "data.a"],
  ["NaN", { a: [1, Number.NaN] }, "data.a[1]"],
  ["infinity", { a: { b: 1 / 0 } }, "data.a.b"],
  ["a Date", { at: new Date(0) }, "data.at"],
  ["a function", { a: () => 1 }, "data.a"],
  ["a symbol", { a: Symbol("s") }, "data.a"],
  ["a bigint", { a: 1n }, "data.a"],
  ["a Map", { a: new Map() }, "data.a"],
  ["an object of a class", { a: new Point() }, "data.a"],
  ["a lone surrogate", { a: "\ud800x" }, "data.a"],
  ["a null character", { a: "\u0000" }, "data.a"],
  ["a hole in an array", { a: new Array(1) }, "data.a[0]"],
  ["a name that JSON keeps and objects do not", JSON.parse('{"m":{"__proto__":{"a":1}}}'), "data.m.__proto__"],
  ["60 levels, which are 65 in a request", deep(60), undefined],
  ["no object at all", [1], "data"],
])("[Q19] %s is refused where it was given", (_, data, param) => {
  const error = caught(() => objectCopy(data, "data"));
  expect(error).toBeInstanceOf(SyncError);
  expect(error).toMatchObject({ code: "invalid_value", ...(param && { param }) });
  expect(error.message).toMatch(/^data.*\.$/s);
});

test("[Q19] any finite number is a double, and -0 is 0 from the start", () => {
  const copy = objectCopy({ avogadro: 6.02e23, large: [2 ** 60, -1e300], zero: [-0] }, "data");
  expect(copy).toEqual({ avogadro: 6.02e23, large: [2 ** 60, -1e300], zero: [0] });
});

test("[Q19] JSON values are copied, so that a later change of the app's object changes nothing", () => {
  const data = { text: "ä😀", list: [1, { a: null }], f: 1e-7, no: false, deep: deep(58) };
  const copy = objectCopy(data, "data");
  expect(copy).toEqual(data);
  data.list.push(2);
  expect(copy.list).toEqual([1, { a: null }]);
});

test.each(["", ".", "..", "a/b", "a b", "ä", "x".repeat(256), 7, undefined])("[Q19] %j is no record id", (id) => {
  expect(caught(() => checkId(id))).toMatchObject({ code: "invalid_id" });
});

test.each(["", "a b", "ä", "x".repeat(201)])("[Q20] %j is no name for a write", (name) => {
  expect(caught(() => checkTxId(name))).toMatchObject({ code: "invalid_idempotency_key" });
});

function caught(work: () => unknown): SyncError {
  try {
    work();
  } catch (error) {
    return error as SyncError;
  }
  throw new Error("It was accepted.");
}
