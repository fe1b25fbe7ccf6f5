import { expect, test } from "vitest";
import { until } from "../../scripts/testing/until.ts";
import { startPeople } from "./people.ts";

const { request, person } = await startPeople();

test("[ER9] [ER13] a queued write to an erased record ends as one to a deleted record, but keeping it brings no value back", async () => {
  const make = (id: string) =>
    request("POST", "/v1/models/slide", { id, data: { deckId: "d1", title: `Title of ${id}`, order: 1 } });
  await Promise.all([make("deleted"), make("erased"), make("both")]);
  const { client } = await person("ann");
  await until(() => expect(client.models.slide.list()).toHaveLength(3));
  client.pause();
  for (const id of ["deleted", "erased", "both"]) await client.models.slide.update(id, { order: 2 }).queued;
  await request("DELETE", "/v1/models/slide/deleted");
  await request("DELETE", "/v1/models/slide/erased?erase=true");
  await request("DELETE", "/v1/models/slide/both");
  client.resume();
  await until(() => expect(client.status()).toMatchObject({ name: "online", pending: 0, conflicts: 3 }));
  expect(client.models.slide.list()).toEqual([]);
  // Deleted, which the client has received, and then erased.
  await request("DELETE", "/v1/models/slide/both?erase=true");
  const head = Number((await request("GET", "/v1/log?limit=1")).stamp);
  await until(() => expect(client.status().syncId).toBe(head));
  for (const conflict of client.conflicts())
    expect(conflict).toMatchObject({ reason: "stale", mine: { order: 2 }, theirs: null });

  // Decide again if there was news, because a decision applies to what the person has seen.
  for (let again = 0; again < 3; again++) {
    for (const conflict of client.conflicts()) conflict.keepMine();
    await client.drain({ timeoutMs: 60_000 });
  }
  const log = (await request("GET", "/v1/log?limit=1000")).data as { id: string; data: object | null }[];
  const titles = (id: string) =>
    log.filter((entry) => entry.id === id).map(({ data }) => (data as { title?: string })?.title);
  // If kept, the deleted record is restored; nothing of the erased ones comes back.
  expect(titles("deleted")).toContain("Title of deleted");
  for (const id of ["erased", "both"]) expect(titles(id).filter(Boolean)).toEqual([]);
});
