import { expect, test, vi } from "vitest";
import { startPeople } from "./people.ts";

const { ask, person } = await startPeople();

test("[ER9] a queued write to an erased record ends as one to a deleted record, but keeping it brings no value back", async () => {
  const make = (id: string) =>
    ask("POST", "/v1/models/slide", { id, data: { deckId: "d1", title: `Title of ${id}`, order: 1 } });
  await Promise.all([make("deleted"), make("erased"), make("both")]);
  const { client } = await person("ann");
  await vi.waitFor(() => expect(client.models.slide.list()).toHaveLength(3));
  client.pause();
  for (const id of ["deleted", "erased", "both"]) await client.models.slide.update(id, { order: 2 }).queued;
  await ask("DELETE", "/v1/models/slide/deleted");
  await ask("DELETE", "/v1/models/slide/erased?erase=true");
  await ask("DELETE", "/v1/models/slide/both");
  client.resume();
  await vi.waitFor(() => expect(client.status()).toMatchObject({ name: "online", pending: 0, conflicts: 3 }), 10_000);
  expect(client.models.slide.list()).toEqual([]);
  // Deleted, as the client has heard, and then erased.
  await ask("DELETE", "/v1/models/slide/both?erase=true");
  const head = Number((await ask("GET", "/v1/log?limit=1")).stamp);
  await vi.waitFor(() => expect(client.status().syncId).toBe(head), 10_000);
  for (const conflict of client.conflicts())
    expect(conflict).toMatchObject({ reason: "stale", mine: { order: 2 }, theirs: null });

  // Again where there was news of it: a decision is about what its person has seen.
  for (let again = 0; again < 3; again++) {
    for (const conflict of client.conflicts()) conflict.keepMine();
    await client.drain({ timeoutMs: 10_000 });
  }
  const log = (await ask("GET", "/v1/log?limit=1000")).data as { id: string; data: object | null }[];
  const titles = (id: string) =>
    log.filter((entry) => entry.id === id).map(({ data }) => (data as { title?: string })?.title);
  // Kept, the deleted one is there again, as it was; of those that were erased nothing is known.
  expect(titles("deleted")).toContain("Title of deleted");
  for (const id of ["erased", "both"]) expect(titles(id).filter(Boolean)).toEqual([]);
});
