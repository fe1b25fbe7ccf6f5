import { expect, test } from "vitest";
import { chooseSchema } from "./choose-schema.ts";
import { readWords, USAGE, WordsError } from "./mcp-words.ts";

const given = { HOLDFAST_TOKEN: "rk_one" };

test("[AG9] the words and the environment say where, as whom, and over which models", () => {
  expect(readWords([], given)).toEqual({
    url: "http://127.0.0.1:8787",
    token: "rk_one",
    schemaFile: undefined,
    models: undefined,
    store: undefined,
  });
  const words = ["--url", "https://sync.example.com/api", "--models", "slide, document", "--store", "agent.db"];
  expect(readWords(words, { ...given, HOLDFAST_URL: "http://elsewhere" })).toMatchObject({
    url: "https://sync.example.com/api",
    models: ["slide", "document"],
    store: "agent.db",
  });
});

test("[AG9] help is not a fault, and lists every option", () => {
  expect(readWords(["--help"], {})).toBeUndefined();
  for (const option of ["--url", "--schema", "--models", "--store", "HOLDFAST_TOKEN"]) expect(USAGE).toContain(option);
});

test.each([
  [[], {}, /HOLDFAST_TOKEN is not set/],
  [["--url", "ftp://x"], given, /http or https/],
  [["--url", "nowhere"], given, /http or https/],
  [["--colour"], given, /--colour.*See --help/s],
  [["slide"], given, /See --help/],
] as const)("[AG9] %j is refused with a sentence", (words, env, sentence) => {
  expect(() => readWords(words, env)).toThrow(sentence);
  expect(() => readWords(words, env)).toThrow(WordsError);
});

test("[AG9] a schema that cannot be read is refused with a sentence", async () => {
  const words = readWords(["--schema", "nowhere.json"], given);
  if (!words) throw new Error("These are no words for help.");
  await expect(chooseSchema(words)).rejects.toThrow(/--schema cannot be read/);
});
