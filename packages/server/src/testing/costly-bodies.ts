/** The largest body of a batch, in bytes. */
export const MOST = 4 * 1024 * 1024;

const many = (count: number, item: (i: number) => string) => Array.from({ length: count }, (_, i) => item(i)).join(",");
const inConfig = (id: string, config: string) =>
  `{"operations":[{"action":"create","model":"ingestionjob","id":"${id}","data":{"config":${config}}}]}`;

/** Bodies of up to 4 MiB that cost the most to read: what they hold, the text, and the status and code of the answer. */
export const costlyBodies: readonly (readonly [
  name: string,
  text: string,
  status: number,
  code: string | undefined,
])[] = [
  ["a million empty arrays", `[${"[],".repeat(MOST / 3 - 1)}1]`, 400, "too_many_values"],
  ["as many as pass, where none belong", `[${many(99_999, () => "[]")}]`, 400, "invalid_body"],
  ["as many operations", `{"operations":[${many(99_990, () => "[]")}]}`, 400, "too_many_operations"],
  ["as many in a record", inConfig("arrays", `[${many(99_990, () => "[]")}]`), 200, undefined],
  ["as many numbers", inConfig("numbers", `[${many(99_990, (i) => String((i % 100) / 8))}]`), 200, undefined],
  ["as many keys", inConfig("keys", `{${many(99_990, (i) => `"key${i}":${i}`)}}`), 400, "invalid_value"],
  ["as many keys in small objects", inConfig("small", `[${many(33_000, (i) => `{"a":${i},"b":[]}`)}]`), 200, undefined],
  ["levels", `${"[".repeat(MOST / 2)}${"]".repeat(MOST / 2)}`, 400, "invalid_value"],
  ["digits", `[${"1".repeat(MOST - 2)}]`, 400, "invalid_value"],
  ["an open text", `["${"\\\\".repeat(MOST / 2 - 2)}`, 400, "invalid_json"],
];
