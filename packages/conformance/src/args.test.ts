import { expect, test } from "vitest";
import { readArgs } from "./args.ts";

const needed = ["--url", "http://127.0.0.1:8787/", "--key", "sk_live_x"];

test("the address needs no option", () => {
  expect(readArgs(["http://127.0.0.1:8787", "--key", "sk_live_x"], {})).toEqual(readArgs(needed, {}));
});

test("options have their defaults if they are absent", () => {
  expect(readArgs(needed, {})).toEqual({
    url: "http://127.0.0.1:8787",
    key: "sk_live_x",
    testKey: undefined,
    adminToken: undefined,
    groups: [],
    only: undefined,
    json: undefined,
    jobs: 4,
    list: false,
    clean: false,
    stream: false,
  });
});

test("sections may be repeated, or have commas between them; keys may come from the environment", () => {
  const args = readArgs(["--url", "http://x", "--group", "lists,feed", "--group", "log"], {
    CONFORMANCE_KEY: "sk_k",
  });
  expect(args).toMatchObject({ groups: ["lists", "feed", "log"], key: "sk_k" });
});

test.each([
  [["--help"], ""],
  [["--nothing"], '"--nothing" is not an option.'],
  [["--url"], "--url takes a value."],
  [["--key", "sk_x"], "Name the server to test"],
  [["--url", "127.0.0.1:8787", "--key", "sk_x"], '"127.0.0.1:8787" is not an http or https address.'],
  [["--url", "http://x"], "--key takes a secret key"],
  [[...needed, "--jobs", "0"], "--jobs takes a whole number from 1 to 32."],
])("readArgs says what is wrong with %j", (args, sentence) => {
  const told = readArgs(args, {});
  expect(typeof told === "string" && (sentence === "" ? told === "" : told.startsWith(sentence))).toBe(true);
});

test("the list needs neither address nor key", () => {
  expect(readArgs(["--list"], {})).toMatchObject({ list: true });
});
