import assert from "node:assert/strict";
import { test } from "node:test";
import { createTestServer } from "@holdfast/sdk/testing";
import { schema } from "../src/schema.ts";
import { work } from "../src/work.ts";

// A server in memory: no database, no network. More: the page "Test your app" of the documentation.
test("the agent writes notes for a slide that has none, and leaves those of people alone", async () => {
  const { server, client } = createTestServer(schema);
  const ann = client({ actor: "ann" });
  const agent = client({ actor: "note-writer" });
  await Promise.all([ann.client.ready(), agent.client.ready()]);
  await ann.client.models.slide.create({ deckId: "d1", title: "Ann's", notes: "By Ann" }, { id: "s1" }).receipt;
  await ann.client.models.slide.create({ deckId: "d1", title: "Hello" }, { id: "s2" }).receipt;

  const stop = new AbortController();
  const written = new Promise<string>((resolve) => {
    const say = (line: string) => line.endsWith("notes written") && resolve(line);
    void work(agent.client, { think: async ({ title }) => `About ${title}`, stop: stop.signal, say });
  });
  assert.equal(await written, "s2: notes written");
  stop.abort();
  const notes = [...server.rows.values()].map(({ data }) => data.notes);
  assert.deepEqual(notes, ["By Ann", "About Hello"]);

  await Promise.all([ann.client.close(), agent.client.close()]);
});
