import { expect, test } from "vitest";
import { readWords } from "./words.ts";

const needed = ["--url", "http://127.0.0.1:8787/", "--key", "sk_live_x"];

test("the words are read, and what is absent has its default", () => {
  expect(readWords(needed, {})).toEqual({
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
  });
});

test("chapters may be repeated, or have commas between them; keys may come from the environment", () => {
  const words = readWords(["--url", "http://x", "--group", "lists,feed", "--group", "log"], {
    CONFORMANCE_KEY: "sk_k",
  });
  expect(words).toMatchObject({ groups: ["lists", "feed", "log"], key: "sk_k" });
});

test.each([
  [["--help"], ""],
  [["--nothing"], '"--nothing" is not an option.'],
  [["--url"], "--url takes a value."],
  [["--key", "sk_x"], "--url says which server is asked."],
  [["--url", "127.0.0.1:8787", "--key", "sk_x"], "--url takes an http or https address"],
  [["--url", "http://x"], "--key takes a secret key"],
  [[...needed, "--jobs", "0"], "--jobs takes a whole number from 1 to 32."],
])("%j is told what is wrong", (words, sentence) => {
  const told = readWords(words, {});
  expect(typeof told === "string" && (sentence === "" ? told === "" : told.startsWith(sentence))).toBe(true);
});

test("the list needs neither address nor key", () => {
  expect(readWords(["--list"], {})).toMatchObject({ list: true });
});
