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
  ["The … module runs rounds, and has none.", '"none"'],
  ["Name `parts` in hello, which may be none, before you add some.", '"none"'],
  ["…, which is no value of the enum.", '"is no"'],
  ["… are no partitions of … any more.", '"is no"'],
  ["Restore a backup of the one where it was.", '"one"'],
  ["Set DATABASE_URL to that one.", '"one"'],
  ["The database is away, and its data too.", "vocabulary"],
  ["The tenant is on its way elsewhere: try again later.", "vocabulary"],
  ["The operator mends that with holdfast databases verify.", "vocabulary"],
  ["Operations in these commits.", "another message"],
  ["Their connections for everything but commits.", "another message"],
  ["Write requests waiting for a round there.", "another message"],
  ["The id of a claim must be text.", "string"],
  ["… must be a text of 1 to 100 characters.", "string"],
])("%s", (text, problem) => {
  expect(judgeMessage(text)).toEqual([expect.stringContaining(problem)]);
});

test.each([
  "There is no database ….",
  "The … no longer exists.",
  "…, or declare one of the fields as unique.",
  "… bytes of these … are waiting: the server is stopping.",
  "These tools were closed and cannot be used any more.",
  "A field must be a text column of the table.",
])("a good message has no problem: %s", (text) => {
  expect(judgeMessage(text)).toEqual([]);
});

test("every message of our packages can be read easily", () => {
  const all = [...allMessages()].flatMap(([file, messages]) => messages.map((text) => ({ file, text })));
  expect(all.length).toBeGreaterThan(500);
  expect(all.flatMap(({ file, text }) => judgeMessage(text).map((problem) => `${file}: ${problem}: ${text}`))).toEqual(
    [],
  );
});
