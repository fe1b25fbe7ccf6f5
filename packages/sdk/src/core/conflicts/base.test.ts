import { expect, test } from "vitest";
import { createTestServer } from "../../testing/test-server.ts";

const schema = {
  models: { note: { fields: { body: { type: "string", merge: "text" }, title: { type: "string" } } } },
} as const;

test("[MT7] [MT16] a write on top of a pending text has seen what that has seen; one of other fields what the rows have", async () => {
  const { client, settle } = createTestServer(schema);
  const [ann, ben] = [client({ actor: "ann" }), client({ actor: "ben" })];
  const notes = ann.client.models.note;
  notes.create({ body: "one two" }, { id: "n" });
  await settle();
  ann.connection.answers.push("held back");
  notes.update("n", { body: "one two three" });
  await settle();
  ben.client.models.note.update("n", { body: "uno two" });
  await settle();
  expect(ann.client.status().syncId).toBe(2);
  notes.update("n", { body: "one two three four" });
  notes.update("n", { title: "T" });
  const positions = ann.client.pending().flatMap(({ operations }) => operations.map(({ readAt }) => readAt));
  expect(positions).toEqual([1, 1, 2]);
  ann.connection.release();
  for (let i = 0; i < 4; i++) await settle();
  expect(notes.get("n")).toMatchObject({ body: "uno two three four", title: "T" });
});
