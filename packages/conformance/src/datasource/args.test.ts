import { expect, test } from "vitest";
import { readDatasourceArgs } from "./args.ts";

const words = (...more: string[]) => [
  ...["http://127.0.0.1:4000/", "--signing-key", "whsec_YWJj", "--model", "task"],
  ...["--data", '{"title":"a"}', "--change", '{"title":"b"}', ...more],
];

test("[DS34] the kit's arguments, and a sentence for each that is wrong", () => {
  expect(readDatasourceArgs(words(), {})).toEqual({
    ...{ url: "http://127.0.0.1:4000/", signingKey: "whsec_YWJj", model: "task" },
    ...{ data: { title: "a" }, change: { title: "b" } },
  });
  expect(readDatasourceArgs(["--help"], {})).toBe("");
  const wrong: [string[], string][] = [
    [[], "Name the handler"],
    [["http://x/"], "--signing-key"],
    [words("--signing-key", "abc"), "--signing-key"],
    [words("--data", "[]"), "--data"],
    [words("--change", "{}"), "--change"],
    [words("--model"), "--model takes a value."],
    [words("--other"), "is not an option"],
  ];
  for (const [args, says] of wrong) expect(readDatasourceArgs(args, {})).toContain(says);
  expect(readDatasourceArgs(words().slice(3), { CONFORMANCE_SIGNING_KEY: "whsec_YWJj" })).toContain("Name the handler");
});
