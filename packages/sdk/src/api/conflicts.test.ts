import { expect, test, vi } from "vitest";
import * as selectors from "../core/conflicts/select-conflicts.ts";
import { createTestServer } from "../testing/test-server.ts";

const schema = {
  models: {
    slide: { fields: { title: { type: "string" }, order: { type: "number", default: 0 }, notes: { type: "string" } } },
  },
} as const;

/** Ann wrote offline while Ben changed the same record; now she is back. */
async function conflict(
  ann: (slides: ReturnType<typeof people>["ann"]["client"]["models"]["slide"]) => void,
  ben: (slides: ReturnType<typeof people>["ben"]["client"]["models"]["slide"]) => void = (slides) =>
    slides.update("s1", { title: "Ben's" }),
) {
  const both = people();
  await both.ann.client.ready();
  await both.ben.client.ready();
  both.ann.client.models.slide.create({ title: "Base", order: 1, notes: "n" }, { id: "s1" });
  both.ann.client.models.slide.create({ title: "Two" }, { id: "s2" });
  await both.settle();
  both.ann.client.pause();
  ben(both.ben.client.models.slide);
  await both.settle();
  ann(both.ann.client.models.slide);
  await both.settle();
  both.ann.client.resume();
  await both.settle();
  const { client } = both.ann;
  return {
    ...both,
    client,
    slides: client.models.slide,
    theirs: both.ben.client.models.slide,
    first: () => {
      const [found] = client.conflicts();
      if (!found) throw new Error("There is no conflict.");
      return found;
    },
  };
}

function people() {
  const own = createTestServer(schema);
  return { ...own, ann: own.client({ actor: "ann" }), ben: own.client({ actor: "ben" }) };
}

test("[Q12] a held write becomes a conflict that shows mine, base and theirs, later writes of mine included", async () => {
  const { client, first } = await conflict((slides) => {
    slides.update("s1", { title: "Ann's" });
    slides.update("s1", { title: "Ann's second", notes: "mine" });
  });
  expect(client.conflicts()).toHaveLength(1);
  expect(first()).toMatchObject({
    model: "slide",
    id: "s1",
    action: "update",
    fields: ["title"],
    mine: { title: "Ann's second", notes: "mine" },
    base: { title: "Base", notes: "n" },
    theirs: { title: "Ben's", notes: "n" },
    writtenBy: "user:ben",
    observedSyncId: 3,
  });
  expect(client.status()).toMatchObject({ conflicts: 1, pending: 1 });
  expect(client.pending()).toMatchObject([{ phase: "blocked" }]);
});

test("[Q16] a write with several stale operations on one record is one conflict, with the fields of all", async () => {
  const both = people();
  const { client } = both.ann;
  await client.ready();
  client.models.slide.create({ title: "Base", notes: "n" }, { id: "s1" });
  await both.settle();
  client.pause();
  both.ben.client.models.slide.update("s1", { title: "Ben's", notes: "Ben's" });
  await both.settle();
  const update = (data: { title?: string; notes?: string }) =>
    ({ action: "update", model: "slide", id: "s1", data }) as const;
  client.commit([update({ title: "Ann's" }), update({ notes: "Ann's" })]);
  client.models.slide.update("s1", { title: "later", notes: "later" });
  await both.settle();
  client.resume();
  await both.settle();
  const [first, second] = client.conflicts();
  expect(second).toBeUndefined();
  expect(first?.fields.toSorted()).toEqual(["notes", "title"]);
  first?.merge({ title: "merged", notes: "merged" });
  expect(client.models.slide.get("s1")).toMatchObject({ title: "merged", notes: "merged" });
  await both.settle();
  expect(client.models.slide.get("s1")).toMatchObject({ title: "merged", notes: "merged" });
  expect(client.status()).toMatchObject({ pending: 0, conflicts: 0, attention: 0 });
});

test("[Q12] the receipt of a held write rejects, and a conflict stays one object while nothing in it changes", async () => {
  let receipt: Promise<unknown> | undefined;
  const { client, slides, settle } = await conflict((own) => {
    receipt = own.update("s1", { title: "Ann's" }).receipt;
  });
  await expect(receipt).rejects.toMatchObject({ code: "stale_context", receipt: { status: "rejected" } });
  const before = client.conflicts();
  slides.update("s2", { title: "Elsewhere" });
  await settle();
  expect(client.conflicts()).toBe(before);
});

test("[R4] during a conflict the user sees theirs in the contested fields, and what else he wrote", async () => {
  const { slides } = await conflict((own) => {
    own.update("s1", { title: "Ann's", order: 7 });
    own.update("s1", { notes: "mine" });
  });
  expect(slides.get("s1")).toMatchObject({ title: "Ben's", order: 7, notes: "mine" });
});

test("[R4] a write made after the conflict was shown is based on theirs, and is shown", async () => {
  const { slides, first, settle, clock } = await conflict((own) => own.update("s1", { title: "Ann's" }));
  // What a clock says, that was set back meanwhile, decides nothing.
  clock.sleep(-3_600_000);
  slides.update("s1", { title: "Ann again" });
  expect(slides.get("s1")).toMatchObject({ title: "Ann again" });
  expect(first().mine).toMatchObject({ title: "Ann again" });
  await settle();
  expect(slides.get("s1")).toMatchObject({ title: "Ann again" });
});

test("[Q13] keepMine sends mine again, in view of theirs, under a new name, and what followed goes after it", async () => {
  const { client, slides, first, settle, server } = await conflict((own) => {
    own.update("s1", { title: "Ann's" }, { clientTxId: "t1" });
    own.update("s1", { order: 9 }, { clientTxId: "t2" });
  });
  const write = first().keepMine();
  expect(write).toMatchObject({ id: "s1", clientTxId: expect.not.stringMatching(/^t1$/) });
  expect(slides.get("s1")).toMatchObject({ title: "Ann's", order: 9 });
  await expect(write.receipt).resolves.toMatchObject({ status: "confirmed" });
  await settle();
  expect(client.status()).toMatchObject({ pending: 0, conflicts: 0, attention: 0 });
  expect(server.log.slice(3).map((e) => e.clientTxId)).toEqual([write.clientTxId, "t2"]);
  expect(slides.get("s1")).toMatchObject({ title: "Ann's", order: 9 });
});

test("[Q13] later writes to other fields that another client also changed belong to the conflict", async () => {
  const { first, settle, slides, client } = await conflict(
    (own) => {
      own.update("s1", { title: "Ann's" });
      own.update("s1", { order: 9 });
    },
    (own) => own.update("s1", { title: "Ben's", order: 5 }),
  );
  expect(first()).toMatchObject({
    fields: ["title", "order"],
    mine: { title: "Ann's", order: 9 },
    theirs: { title: "Ben's", order: 5 },
  });
  expect(slides.get("s1")).toMatchObject({ title: "Ben's", order: 5 });
  first().keepMine();
  await settle();
  expect(client.conflicts()).toEqual([]);
  expect(slides.get("s1")).toMatchObject({ title: "Ann's", order: 9 });
});

test("[Q13] keepMine conflicts again if others wrote after the conflict was shown", async () => {
  const { first, theirs, settle, slides } = await conflict((own) => own.update("s1", { title: "Ann's" }));
  const seen = first();
  theirs.update("s1", { title: "Ben again" });
  await settle();
  expect(first()).toMatchObject({ theirs: { title: "Ben again" } });
  seen.keepMine();
  await settle();
  expect(first()).toMatchObject({ mine: { title: "Ann's" }, theirs: { title: "Ben again" } });
  expect(slides.get("s1")).toMatchObject({ title: "Ben again" });
});

test("[Q14] takeTheirs gives up the contested fields of all of mine, and sends what else was written", async () => {
  const { client, slides, first, settle, server } = await conflict((own) => {
    own.update("s1", { title: "Ann's", order: 7 });
    own.update("s1", { title: "Ann's second" });
    own.update("s1", { title: "Third", notes: "mine" });
  });
  first().takeTheirs();
  await settle();
  expect(client.status()).toMatchObject({ pending: 0, conflicts: 0, attention: 0 });
  expect(server.log.slice(3).map((e) => e.changedFields)).toEqual([["order"], ["notes"]]);
  expect(slides.get("s1")).toMatchObject({ title: "Ben's", order: 7, notes: "mine" });
});

test("[Q15] merge sends the given values for the contested fields", async () => {
  const { client, slides, first, settle, server } = await conflict((own) => {
    own.update("s1", { title: "Ann's", order: 7 });
    own.update("s1", { title: "Ann's second" });
  });
  const write = first().merge({ title: "Both" });
  expect(slides.get("s1")).toMatchObject({ title: "Both", order: 7 });
  await expect(write.receipt).resolves.toMatchObject({ status: "confirmed" });
  await settle();
  expect(server.log.slice(3).map((e) => e.changedFields?.sort())).toEqual([["order", "title"]]);
  expect(client.status()).toMatchObject({ pending: 0, conflicts: 0 });
});

test("[Q16] a held commit has one conflict per record, and is answered as one", async () => {
  const both = people();
  await both.ann.client.ready();
  await both.ben.client.ready();
  const { client } = both.ann;
  client.commit([
    { action: "create", model: "slide", id: "s1", data: { title: "1" } },
    { action: "create", model: "slide", id: "s2", data: { title: "2" } },
    { action: "create", model: "slide", id: "s3", data: { title: "3" } },
  ]);
  await both.settle();
  client.pause();
  both.ben.client.models.slide.update("s1", { title: "Ben 1" });
  both.ben.client.models.slide.update("s2", { title: "Ben 2" });
  await both.settle();
  client.commit([
    { action: "update", model: "slide", id: "s1", data: { title: "Ann 1" } },
    { action: "update", model: "slide", id: "s2", data: { title: "Ann 2" } },
    { action: "update", model: "slide", id: "s3", data: { title: "Ann 3" } },
  ]);
  await both.settle();
  client.resume();
  await both.settle();
  expect(client.conflicts().map((c) => c.id)).toEqual(["s1", "s2"]);
  expect(client.models.slide.list().map((s) => s.title)).toEqual(["Ben 1", "Ben 2", "Ann 3"]);
  const head = both.server.head;
  client.conflicts()[0]?.keepMine();
  await both.settle();
  expect(client.conflicts()).toEqual([]);
  expect(both.server.log.slice(head).map((e) => e.data?.title)).toEqual(["Ann 1", "Ann 2", "Ann 3"]);
});

test("[Q14] a held delete is given up by takeTheirs and carried out by keepMine", async () => {
  const del = await conflict((own) => own.delete("s1"));
  expect(del.first()).toMatchObject({ action: "delete", mine: {}, theirs: { title: "Ben's" } });
  expect(del.slides.get("s1")).toMatchObject({ title: "Ben's" });
  del.first().takeTheirs();
  await del.settle();
  expect(del.client.status().conflicts).toBe(0);
  expect(del.slides.get("s1")?.title).toBe("Ben's");
  const keep = await conflict((own) => own.delete("s1"));
  keep.first().keepMine();
  await keep.settle();
  expect(keep.slides.get("s1")).toBeUndefined();
});

test("[Q12] a record that was deleted meanwhile shows theirs as null; taking theirs leaves it deleted", async () => {
  const { first, settle, slides, client } = await conflict(
    (own) => own.update("s1", { title: "Ann's" }),
    (own) => own.delete("s1"),
  );
  expect(first()).toMatchObject({ mine: { title: "Ann's" }, base: { title: "Base" }, theirs: null, fields: ["title"] });
  expect(slides.get("s1")).toBeUndefined();
  first().takeTheirs();
  await settle();
  expect(client.status()).toMatchObject({ conflicts: 0, pending: 0, attention: 0 });
  expect(slides.get("s1")).toBeUndefined();
});

test("[Q12] theirs of a record that was deleted and created again during a conflict has nothing of the former one", async () => {
  const { first, settle, slides, theirs } = await conflict(
    (own) => own.update("s1", { title: "Ann's", notes: "Ann's" }),
    (own) => own.update("s1", { title: "Ben's", notes: "Ben's" }),
  );
  expect(first().theirs).toEqual({ title: "Ben's", notes: "Ben's" });
  theirs.delete("s1");
  theirs.create({ title: "Anew" }, { id: "s1" });
  await settle();
  expect(first()).toMatchObject({ mine: { title: "Ann's", notes: "Ann's" }, fields: ["title", "notes"] });
  expect(first().theirs).toEqual({ title: "Anew" });
  first().takeTheirs();
  await settle();
  expect(slides.get("s1")).toEqual({ id: "s1", title: "Anew", order: 0 });
});

test("[Q13] keepMine brings back a record that was deleted meanwhile, as it was, with mine on top", async () => {
  const { client, first, settle, slides, theirs } = await conflict(
    (own) => {
      own.update("s1", { title: "Ann's" });
      own.update("s1", { order: 7 });
    },
    (own) => own.delete("s1"),
  );
  await expect(first().keepMine().receipt).resolves.toMatchObject({ status: "confirmed" });
  await settle();
  const back = { id: "s1", title: "Ann's", order: 7, notes: "n" };
  expect(slides.get("s1")).toEqual(back);
  expect(theirs.get("s1")).toEqual(back);
  expect(client.status()).toMatchObject({ conflicts: 0, pending: 0, attention: 0 });
});

test("[D9] a conflict survives a reload and can be answered then", async () => {
  const { ann, server, settle } = await conflict((own) => own.update("s1", { title: "Ann's" }));
  await ann.client.close();
  const other = createTestServer(schema);
  Object.assign(other.server, { log: server.log, rows: server.rows });
  const { client } = other.client({ actor: "ann", disk: ann.disk });
  await client.ready();
  expect(client.conflicts()).toMatchObject([
    { mine: { title: "Ann's" }, theirs: { title: "Ben's" }, base: { title: "Base" } },
  ]);
  await client.conflicts()[0]?.keepMine().receipt;
  await settle();
  expect(client.models.slide.get("s1")).toMatchObject({ title: "Ann's" });
});

test("[R10] after a backup was restored, differences become conflicts and nothing is rejected for it", async () => {
  const both = people();
  const { ann, ben, server, settle } = both;
  await ann.client.ready();
  await ben.client.ready();
  const slides = ann.client.models.slide;
  slides.create({ title: "A" }, { id: "s1" });
  slides.create({ title: "B" }, { id: "s2" });
  await settle();
  ben.client.models.slide.update("s1", { title: "Ben's, lost with the backup" });
  await settle();
  ann.client.pause();
  slides.update("s1", { title: "Ann's" }, { clientTxId: "t1" });
  const fresh = slides.update("s2", { title: "Ann's, too" }, { clientTxId: "t2" });
  await settle();
  server.restoreTo(2, "log_2");
  ben.client.resume();
  ann.client.resume();
  await settle();
  await settle();
  expect(await fresh.receipt).toMatchObject({ status: "confirmed", logId: "log_2" });
  expect(slides.get("s2")).toMatchObject({ title: "Ann's, too" });
  expect(ann.client.status()).toMatchObject({ attention: 0, pending: 0 });
  expect(server.log.filter((e) => e.clientTxId === "t2")).toEqual([]);
});

test("[R10] a write from before a restore does not overwrite what others wrote to the restored log", async () => {
  const { ann, ben, server, settle } = people();
  await ann.client.ready();
  await ben.client.ready();
  const slides = ann.client.models.slide;
  slides.create({ title: "A" }, { id: "s1" });
  slides.create({ title: "B" }, { id: "s2" });
  await settle();
  ann.client.pause();
  slides.update("s1", { title: "Ann's" });
  await settle();
  server.restoreTo(2, "log_2");
  for (const n of [3, 4])
    server.commit(
      {
        operations: [{ action: "update", model: "slide", id: "s1", data: { title: `Ben's ${n}` } }],
        clientTxId: `b${n}`,
      },
      "ben",
    );
  ann.client.resume();
  await settle();
  await settle();
  expect(ann.client.conflicts()).toMatchObject([
    { mine: { title: "Ann's" }, base: { title: "A" }, theirs: { title: "Ben's 4" } },
  ]);
  await ann.client.conflicts()[0]?.keepMine().receipt;
  expect(slides.get("s1")).toMatchObject({ title: "Ann's" });
});

test("[R22] a write that reaches a restored log before its client knows of the restore is sent again, and not refused", async () => {
  const { ann, ben, server, settle, clock } = people();
  await ann.client.ready();
  const slides = ann.client.models.slide;
  for (const id of ["s1", "s2", "s3"]) slides.create({ title: id }, { id });
  await settle();
  ben.client.pause();
  // Its stream does not break.
  server.restoreTo(1, "log_2");
  const write = slides.create({ title: "New" }, { id: "s4" });
  await settle();
  clock.advance(5_000);
  await settle();
  await expect(write.receipt).resolves.toMatchObject({ status: "confirmed", logId: "log_2" });
  expect(ann.client.status()).toMatchObject({ attention: 0, pending: 0 });
  expect(slides.list().map(({ title }) => title)).toEqual(["s1", "New"]);
});

test("[R1] once its entry has come, a write whose receipt was lost no longer covers what others wrote on top of it", async () => {
  const { ann, ben, settle, clock } = people();
  await ann.client.ready();
  await ben.client.ready();
  ann.connection.answers.push("lost");
  ann.client.models.slide.create({ title: "Ann's" }, { id: "s1" });
  await settle();
  ben.client.models.slide.update("s1", { title: "Ben's" });
  await settle();
  expect(ann.client.status().pending).toBe(1);
  expect(ann.client.models.slide.get("s1")).toMatchObject({ title: "Ben's" });
  clock.advance(60_000);
  await settle();
  expect(ann.client.status()).toMatchObject({ pending: 0, conflicts: 0, attention: 0 });
});

test("[Q14] a commit whose premise moved is given up whole, or sent again in view of what moved it", async () => {
  for (const way of ["takeTheirs", "keepMine"] as const) {
    const { ann, settle } = people();
    await ann.client.ready();
    const { client, connection } = ann;
    const moved = { object: "stale_notification", model: "slide", id: "s1", group: "deck:d1", writtenBy: "user:ben" };
    const notification = { ...moved, readAt: 0, observedSyncId: 9, conflictingFields: [], currentValues: {} };
    const receipt = { object: "commit_receipt", status: "rejected", success: false, notifications: [notification] };
    connection.answers.push({ kind: "answer", status: 200, body: { data: [{ httpStatus: 200, ...receipt }] } });
    client.commit([{ action: "create", model: "slide", id: "s1", data: { title: "Mine" } }], {
      reads: [{ group: "deck:d1" }, { group: "deck:d2" }],
    });
    await settle();
    expect(client.conflicts()).toMatchObject([{ id: "s1", fields: [], writtenBy: "user:ben" }]);
    client.conflicts()[0]?.[way]();
    await settle();
    expect(client.status()).toMatchObject({ conflicts: 0, pending: 0 });
    const sent = JSON.parse(connection.sent[1] ?? '{"commits":[{}]}') as { commits: { reads?: unknown }[] };
    if (way === "takeTheirs") expect(connection.sent).toHaveLength(1);
    else
      expect(sent.commits[0]?.reads).toMatchObject([
        { group: "deck:d1", readAt: 9 },
        { group: "deck:d2", readAt: 0 },
      ]);
  }
});

test("[Q38] the base of a field that was absent is absent, not what this client typed there first", async () => {
  const both = people();
  const { client } = both.ann;
  await client.ready();
  await both.ben.client.ready();
  client.models.slide.create({ title: "Base" }, { id: "s1" });
  await both.settle();
  client.pause();
  both.ben.client.models.slide.update("s1", { notes: "Ben's" });
  await both.settle();
  for (const notes of ["A", "An", "Ann's"]) client.models.slide.update("s1", { notes });
  client.resume();
  await both.settle();
  const [conflict] = client.conflicts();
  expect(conflict).toMatchObject({ fields: ["notes"], mine: { notes: "Ann's" }, theirs: { notes: "Ben's" } });
  expect(conflict?.base).toEqual({});
});

test("[Q39] conflicts are worked out again when one of them changes, and not for a change elsewhere", async () => {
  const { client, slides, theirs, settle } = await conflict((own) => void own.update("s1", { title: "Ann's" }));
  const work = vi.spyOn(selectors, "selectConflicts");
  const first = client.conflicts();
  work.mockClear();
  for (let i = 0; i < 5; i++) {
    theirs.update("s2", { order: i });
    slides.create({ title: `New ${i}` });
    await settle();
    expect(client.conflicts()).toBe(first);
  }
  expect(work).not.toHaveBeenCalled();
  theirs.update("s1", { title: "Ben's second" });
  await settle();
  expect(client.conflicts()[0]?.theirs).toEqual({ title: "Ben's second" });
  slides.update("s1", { notes: "more of mine" });
  expect(client.conflicts()[0]?.mine).toEqual({ title: "Ann's", notes: "more of mine" });
});

test("[S13] a conflict whose values the server left out shows those of the record, which the client has read", async () => {
  const { ann, settle } = people();
  await ann.client.ready();
  ann.client.models.slide.create({ title: "Base" }, { id: "s1" });
  await settle();
  const notification = {
    ...{ object: "stale_notification", model: "slide", id: "s1", writtenBy: "user:ben", readAt: 1 },
    ...{ observedSyncId: 1_000, conflictingFields: ["title"], currentValuesOmitted: true },
  };
  const held = { object: "commit_receipt", status: "rejected", success: false, httpStatus: 200 };
  ann.connection.answers.push({
    ...{ kind: "answer", status: 200 },
    body: { object: "list", data: [{ ...held, notifications: [notification] }] },
  });
  ann.connection.replies.push({ kind: "answer", status: 200, body: { data: { id: "s1", title: "a long title" } } });
  ann.client.models.slide.update("s1", { title: "mine" });
  await settle();
  expect(ann.connection.requests.at(-1)).toEqual({
    name: "readRecord",
    asked: { params: { model: "slide", id: "s1" } },
  });
  expect(ann.client.conflicts()).toMatchObject([{ mine: { title: "mine" }, theirs: { title: "a long title" } }]);
});

test("[Q13] [Q72] a merge may name a field in conflict that only a newer version of the app has", async () => {
  const { ann, server, settle } = people();
  const { client } = ann;
  await client.ready();
  client.models.slide.create({ title: "Base" }, { id: "s1" });
  await settle();
  client.pause();
  const operation = {
    action: "update",
    model: "slide",
    id: "s1",
    data: { tag: "newer" },
    readAt: 1,
    onStale: "notify",
  };
  server.commit({ operations: [operation], reads: [], clientTxId: "newer", clientId: "ben" } as never, "ben");
  client.models.slide.delete("s1");
  client.resume();
  await settle();
  const [first] = client.conflicts();
  expect(first?.fields).toContain("tag");
  first?.merge({ tag: "merged" });
  await settle();
  expect(server.rows.get("slide/s1")?.data).toMatchObject({ tag: "merged" });
  expect(() => first?.merge({ never: 1 })).toThrow("no field");
});
