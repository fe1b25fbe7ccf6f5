import { expect, test } from "vitest";
import { until } from "../../scripts/testing/until.ts";
import { startPeople } from "./people.ts";

const { agent, person, request } = await startPeople();
const ann = await person("ann");
const robot = await agent("robot", { onBehalfOf: ["user:ann"] });
const slides = ann.client.models.slide;
const create = (id: string, data: object) =>
  request("POST", "/v1/models/slide", { id, data: { deckId: "d1", ...data } });

test("[R101] each field has who set it last, in which run, for whom and why, however long ago", async () => {
  await create("s1", { title: "Base" });
  for (const { client } of [robot, ann]) await until(() => expect(client.models.slide.get("s1")).toBeDefined());
  const why = { run: "r1", onBehalfOf: "user:ann", reason: "Too long", meta: { steps: 1 } };
  const write = robot.client.models.slide.update("s1", { title: "T" }, why);
  const { lastSyncId } = await write.receipt;
  await until(() => expect(slides.get("s1")?.title).toBe("T"));
  for (let from = 0; from < 150; from += 50)
    await ann.client.transact((tx) => {
      for (let i = 1; i <= 50; i++) tx.slide.update("s1", { order: from + i });
    }).receipt;
  await slides.archive("s1").receipt;
  const blame = await slides.blame("s1");
  expect(blame.title).toEqual({
    ...{ by: "agent:robot", at: expect.any(String), syncId: lastSyncId, clientTxId: write.clientTxId },
    ...why,
  });
  expect(blame).toMatchObject({ order: { by: "user:ann" }, deckId: { by: expect.stringMatching(/^system:/) } });
  expect(Object.keys(blame)).not.toContain("id");
});

test("[R101] a record that was created again begins anew, also in fields that were not given", async () => {
  await create("s2", { title: "First", order: 7 });
  await request("DELETE", "/v1/models/slide/s2");
  const { lastSyncId } = await create("s2", { title: "Second" });
  const blame = await slides.blame("s2");
  expect(blame).toMatchObject({ title: { syncId: lastSyncId }, order: { syncId: lastSyncId } });
});

test("[R101] of a record that the token may not read, or that is not there, it rejects as a read does", async () => {
  await request("POST", "/v1/models/slide", { id: "s3", data: { deckId: "another", title: "Hidden" } });
  for (const id of ["s3", "nowhere"])
    await expect(slides.blame(id)).rejects.toMatchObject({ code: "record_not_found", status: 404 });
  await expect(slides.blame("a b")).rejects.toMatchObject({ code: "invalid_id" });
  const other = await person("ben");
  await other.client.close();
  await expect(other.client.models.slide.blame("s1")).rejects.toMatchObject({ code: "client_closed" });
});
