import { expect, test } from "vitest";
import { allMessages } from "./all-messages.ts";
import { judgeMessage } from "./judge-message.ts";
import { messagesIn } from "./messages-in.ts";

test("sentences are found in texts, templates and arguments; names, SQL and short words are none", () => {
  const text = `
    throw new Error("The table is locked by others.");
    refuse("code", { message: \`The \${name} model has no table.\` });
    const sql = "select a from b where c is null"; const word = "Not a sentence"; const key = "invalid_value";
  `;
  expect(messagesIn("a.ts", text)).toEqual(["The table is locked by others.", "The … model has no table."]);
});

test.each([
  ["None of the tables can be attached.", "stands for another"],
  ["Something went wrong with the request.", "nothing that helps"],
  [`The ${"very ".repeat(80)}long sentence ends.`, "characters"],
])("%s", (text, problem) => {
  expect(judgeMessage(text)).toEqual([expect.stringContaining(problem)]);
});

test("every message of our packages can be read easily", () => {
  const all = [...allMessages()].flatMap(([file, messages]) => messages.map((text) => ({ file, text })));
  expect(all.length).toBeGreaterThan(500);
  expect(all.flatMap(({ file, text }) => judgeMessage(text).map((problem) => `${file}: ${problem}: ${text}`))).toEqual(
    [],
  );
});
