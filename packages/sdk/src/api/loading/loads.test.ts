import { expect, test, vi } from "vitest";
import type { ClientOptions } from "../../options.ts";
import type { ModelSchema } from "../../protocol/schema/model-schema.ts";
import { MemoryDisk } from "../../storage/memory.ts";
import { otherWriter } from "../../testing/other-writer.ts";
import { Profile } from "../../testing/profile.ts";
import { createTestServer } from "../../testing/test-server.ts";
import { increment } from "../writes/changes.ts";

const schema = {
  models: {
    project: { fields: { name: { type: "string" } } },
    issue: {
      fields: {
        projectId: { type: "string" },
        title: { type: "string" },
        labels: { type: "array" },
        votes: { type: "integer" },
      },
    },
  },
} as const;

const NONE = { where: { issue: [] } } as const;

/** The first issue of the first project. */
const ISSUE = { projectId: "p1", title: "1", labels: ["all"] } as const;

interface Opened extends Pick<ClientOptions<ModelSchema>, "releasedParts" | "releasedRows"> {
  readonly tabs?: ReturnType<Profile["tab"]>["tabs"];
  readonly on?: MemoryDisk;
  readonly up?: boolean;
}

/** A server with four projects of two issues each; `open` opens the same store again. */
function start() {
  const own = createTestServer(schema);
  const disk = new MemoryDisk();
  const commit = otherWriter(own.server, "issue");
  for (const project of ["p1", "p2", "p3", "p4"]) {
    commit("create", project, { name: project }, "project");
    for (const n of [1, 2]) commit("create", `${project}-${n}`, { projectId: project, title: `${n}`, labels: ["all"] });
  }
  const open = async (
    follow: ClientOptions<ModelSchema>["follow"] = NONE,
    { tabs = new Profile().tab().tabs, on = disk, up = true, ...options }: Opened = {},
  ) => {
    const made = own.client({ disk: on, platform: { tabs: () => tabs }, follow, ...options });
    if (!up) made.offline();
    await settled();
    const ids = () =>
      made.client.models.issue
        .list()
        .map(({ id }) => id)
        .join(" ");
    return { ...made, ids };
  };
  const settled = async () => {
    for (let i = 0; i < 4; i++) await own.settle();
  };
  const kept = () =>
    [...(disk.rows().tables.issue?.entries() ?? [])]
      .map(([id]) => id)
      .sort()
      .join(" ");
  return { ...own, disk, open, commit, settled, kept };
}

test("[N25] a part is loaded when something needs it, is kept up to date, and is ready when it is there", async () => {
  const { open, commit, settled, kept } = start();
  const { client, ids } = await open();
  expect(client.models.project.list()).toHaveLength(4);
  expect(ids()).toBe("");
  const first = client.load("issue", { projectId: "p1" });
  await first.ready;
  expect(ids()).toBe("p1-1 p1-2");
  const second = client.load("issue", { projectId: { in: ["p3"] }, title: "2" });
  await second.ready;
  expect(ids()).toBe("p1-1 p1-2 p3-2");
  commit("create", "new", { projectId: "p1" });
  commit("update", "p1-2", { projectId: "p2" });
  commit("update", "p3-1", { title: "2" });
  commit("update", "p4-1", { title: "3" });
  await settled();
  expect(ids()).toBe("new p1-1 p3-1 p3-2");
  expect(kept()).toBe("new p1-1 p3-1 p3-2");
});

test("[N39] a new part is read by itself, and the rest stays as it is", async () => {
  const { open, commit, settled, kept } = start();
  const { client, ids, connection } = await open();
  await client.load("issue", { projectId: "p1" }).ready;
  const before = client.models.issue.get("p1-1");
  const project = client.models.project.list();
  connection.rowsRead.length = 0;
  await client.load("issue", { projectId: "p2" }).ready;
  expect(connection.rowsRead).toEqual(["p2-1", "p2-2"]);
  expect(ids()).toBe("p1-1 p1-2 p2-1 p2-2");
  expect(client.models.issue.get("p1-1")).toBe(before);
  expect(client.models.project.list()).toEqual(project);
  await settled();
  expect(kept()).toBe("p1-1 p1-2 p2-1 p2-2");
  commit("update", "p2-1", { title: "changed" });
  commit("update", "p1-1", { title: "too" });
  await settled();
  expect(["p1-1", "p2-1"].map((id) => client.models.issue.get(id)?.title)).toEqual(["too", "changed"]);
});

test("[N39] [N86] what happens to records while a part is read is there afterwards, also what moves between parts", async () => {
  const { open, commit, settled, kept } = start();
  const { client, ids, connection } = await open();
  for (const project of ["p1", "p2"]) await client.load("issue", { projectId: project }).ready;
  connection.rowsRead.length = 0;
  const part = client.load("issue", { projectId: "p3" });
  // The stream is closed by now, and the page is not read yet.
  commit("update", "p1-1", { projectId: "p3" });
  commit("update", "p1-2", { projectId: "p4" });
  commit("update", "p3-1", { projectId: "p2" });
  commit("delete", "p2-1");
  commit("create", "new", { projectId: "p3" });
  await part.ready;
  await settled();
  expect(ids()).toBe("new p1-1 p2-2 p3-1 p3-2");
  expect(kept()).toBe("new p1-1 p2-2 p3-1 p3-2");
  expect(client.models.issue.get("p3-1")?.projectId).toBe("p2");
  expect([...connection.rowsRead].sort()).toEqual(["new", "p1-1", "p3-2"]);
});

test("[N39] [N87] parts that are added while one is read, also during the first load, wait for it: nothing is read twice", async () => {
  const { open, commit, settled, client: connect, disk } = start();
  for (let n = 0; n < 6; n++) commit("create", `q${n}`, { projectId: "q" });
  const made = connect({ disk, follow: NONE });
  made.connection.snapshotPage = 3;
  const parts = ["q", "p1"].map((project) => made.client.load("issue", { projectId: project }));
  await Promise.resolve();
  parts.push(made.client.load("issue", { projectId: "p2" }));
  await Promise.all(parts.slice(0, 2).map(({ ready }) => ready));
  parts.push(made.client.load("issue", { projectId: "p3" }));
  await Promise.all(parts.map(({ ready }) => ready));
  await settled();
  expect(made.client.models.issue.list()).toHaveLength(12);
  const { rowsRead } = made.connection;
  expect([...rowsRead].sort()).toEqual([...new Set(rowsRead)].sort());
  await made.client.close();
  const again = await open();
  expect([again.ids().split(" ").length, again.connection.asked.snapshot]).toEqual([12, 0]);
});

test("[N39] if the token may not read a part's model, all that it may read is read again", async () => {
  const { open, settled } = start();
  const { client, connection } = await open();
  await client.load("issue", { projectId: "p1" }).ready;
  const shown = new Set<number>();
  client.subscribe(() => shown.add(client.models.project.list().length));
  const body = { type: "permission_error", code: "capability_scope_denied", message: "Not covered." };
  let refusals = 1;
  Object.defineProperty(connection, "refused", {
    get: () => (refusals-- > 0 ? { kind: "answer", status: 403, body } : undefined),
  });
  connection.rowsRead.length = 0;
  await client.load("issue", { projectId: "p2" }).ready;
  await settled();
  expect(connection.rowsRead).toHaveLength(8);
  expect([...shown]).toEqual([4]);
});

test("[N39] a write to a record of a part is shown once, also if the part has it before the log says so", async () => {
  const { open, settled } = start();
  const { client, connection } = await open();
  await client.load("issue", { projectId: "p1" }).ready;
  connection.quiet = true;
  await client.models.issue.update("p2-1", { votes: increment(3) }).receipt;
  const seen = new Set<number | undefined>();
  client.subscribe(() => seen.add(client.models.issue.get("p2-1")?.votes));
  await client.load("issue", { projectId: "p2" }).ready;
  connection.flush();
  await settled();
  expect([...seen]).toEqual([undefined, 3]);
  expect(client.pending()).toEqual([]);
});

test("[N25] [N73] the same part is loaded once, and what is released stays and stays up to date", async () => {
  const { open, commit, settled } = start();
  const { client, ids, connection } = await open();
  const parts = [1, 2, 3].map(() => client.load("issue", { projectId: "p1" }));
  await Promise.all(parts.map(({ ready }) => ready));
  const { snapshot } = connection.asked;
  for (const part of parts) {
    part.release();
    part.release();
  }
  commit("update", "p1-1", { title: "changed" });
  await settled();
  expect(client.models.issue.get("p1-1")?.title).toBe("changed");
  await client.load("issue", { projectId: "p1" }).ready;
  expect(connection.asked.snapshot).toBe(snapshot);
  expect(ids()).toBe("p1-1 p1-2");
});

test("[N26] what was loaded is on disk: after a reload it is shown at once, also offline, and nothing is read again", async () => {
  const { open, settled } = start();
  const first = await open();
  await first.client.load("issue", { projectId: "p1" }).ready;
  await first.client.load("issue", { projectId: "p2" }).ready;
  await first.client.close();
  const offline = await open(NONE, { up: false });
  expect(offline.ids()).toBe("p1-1 p1-2 p2-1 p2-2");
  await offline.client.close();
  const again = await open();
  expect(again.ids()).toBe("p1-1 p1-2 p2-1 p2-2");
  await again.client.load("issue", { projectId: "p2" }).ready;
  expect(again.connection.asked.snapshot).toBe(0);
  await again.client.close();
  // Another version of the app follows something else.
  const other = await open({ where: { issue: { projectId: "p4" } } });
  await settled();
  expect(other.ids()).toBe("p4-1 p4-2");
});

test("[N26] [N79] beyond twenty released parts, those that were used longest ago go; pinned and used ones stay, and what follow names", async () => {
  const { open, commit, settled } = start();
  for (let n = 0; n < 30; n++) commit("create", `x${n}`, { projectId: `x${n}` });
  const { client, ids, connection } = await open({ where: { issue: [{ projectId: "p1" }] } });
  const used = client.load("issue", { projectId: "p2" });
  await used.ready;
  const pinned = client.load("issue", { projectId: "p3" }, { keep: true });
  await pinned.ready;
  pinned.release();
  for (let n = 0; n < 25; n++) {
    const part = client.load("issue", { projectId: `x${n}` });
    await part.ready;
    part.release();
  }
  await settled();
  const shown = ids().split(" ");
  expect(shown).toEqual(expect.arrayContaining(["p1-1", "p1-2", "p2-1", "p2-2", "p3-1", "p3-2", "x24", "x5"]));
  expect(shown).not.toContain("x3");
  expect(shown.filter((id) => id.startsWith("x"))).toHaveLength(21);
  expect(connection.asked.snapshot).toBe(28);
});

test("[N26] [N79] released parts with more than 20 000 rows go at the next load; the same rows in use stay", async () => {
  const { open, server, settled } = start();
  for (let n = 0; n < 21; n++) {
    const operations = Array.from({ length: 1_000 }, (_, i) => ({
      ...{ action: "create", model: "issue", id: `big-${n}-${i}`, data: { projectId: "big" } },
    }));
    server.commit({ clientTxId: `big${n}`, clientId: "c", operations } as never, "ben");
  }
  const { client } = await open();
  const rows = () => client.models.issue.list().length;
  const big = client.load("issue", { projectId: "big" });
  await big.ready;
  await client.load("issue", { projectId: "p1" }).ready;
  expect(rows()).toBe(21_002);
  big.release();
  expect(rows()).toBe(21_002);
  await client.load("issue", { projectId: "p2" }).ready;
  await settled();
  expect(rows()).toBe(4);
});

test.each([
  ["no released part", { releasedParts: 0 }, "p4-1 p4-2"],
  ["one of them", { releasedParts: 1 }, "p3-1 p3-2 p4-1 p4-2"],
  ["as many as have three rows together", { releasedRows: 3 }, "p3-1 p3-2 p4-1 p4-2"],
  ["all", {}, "p1-1 p1-2 p2-1 p2-2 p3-1 p3-2 p4-1 p4-2"],
])("[N26] [N79] an app says how much of what it released stays: %s", async (_, options, left) => {
  const { open, kept, settled } = start();
  const { client, ids } = await open(NONE, options);
  for (const projectId of ["p1", "p2", "p3", "p4"]) {
    const part = client.load("issue", { projectId });
    await part.ready;
    part.release();
  }
  await settled();
  expect([ids(), kept()]).toEqual([left, left]);
});

test("[N25] [N75] parts that are used at the same time have a limit: the next one is refused, and the others go on", async () => {
  const { open, settled } = start();
  const { client, ids } = await open();
  const parts = Array.from({ length: 400 }, (_, n) => client.load("issue", { projectId: `p${n}` }));
  await Promise.all(parts.map(({ ready }) => ready));
  await expect(client.load("issue", { projectId: "p999" }).ready).rejects.toMatchObject({ code: "invalid_options" });
  await expect(client.load("issue", { title: "x".repeat(4_000) }).ready).rejects.toThrow(/characters/);
  expect(ids()).toContain("p4-1");
  parts[7]?.release();
  await client.load("issue", { projectId: "p999" }).ready;
  await settled();
  expect(() => client.load("issue", { colour: "red" } as never)).toThrow(/no field/);
  expect(() => client.load("nope" as "issue", {})).toThrow(/no model/);
});

test.each([
  [{ title: { not: "a" } }],
  [{ title: { contains: "a" } }],
  [{ title: { gt: "a" } }],
  [{ title: 1 }],
  [{ labels: ["all"] }],
  [{ projectId: { in: Array(101).fill("p1") } }],
  [{ projectId: {} }],
  [{ or: [{ projectId: "p1" }] }],
  [{ $createdBy: "user:ann" }],
  [{ title: "\0" }],
  [{ projectId: { in: ["p1", "\ud83d"] } }],
  [{ labels: { contains: "\ud83d" } }],
  [{ projectId: { in: [undefined, "p1"] } }],
  [null],
])("[N24] [N69] [N25] a condition that the server cannot follow by throws at once: %j", async (where) => {
  const { open } = start();
  const { client, ids } = await open();
  expect(() => client.load("issue", where as never)).toThrow(/must be|no field/);
  expect(() => client.follow({ where: { issue: where as never } })).toThrow(/must be|no field/);
  await client.load("issue", { projectId: { in: ["p1", null] } as never }).ready;
  expect(ids()).toBe("p1-1 p1-2");
});

test("[N26] [N80] released parts of any model whose conditions leave no room go, those used longest ago first; `follow` and what is in use stay", async () => {
  const { open, settled } = start();
  const named = { projectId: "p3" };
  // They leave room for 4 000 characters.
  const fillers = Array.from({ length: 15 }, (_, n) => ({ title: String.fromCharCode(97 + n).repeat(3_800) }));
  const { client, ids } = await open({ where: { issue: [named, ...fillers], project: [] } });
  const long = (name: string, length: number) => ({ in: [name, "x".repeat(length)] });
  const used = async (part: ReturnType<typeof client.load>) => {
    await part.ready;
    part.release();
    await settled();
  };
  await used(client.load("project", { id: long("p4", 1_500) }));
  await used(client.load("issue", { id: long("p1-1", 1_500) }));
  const projects = () => client.models.project.list().map(({ id }) => id);
  expect(projects()).toEqual(["p4"]);
  expect(ids()).toBe("p1-1 p3-1 p3-2");
  const held = client.load("issue", { id: long("p2-1", 1_500) });
  await held.ready;
  await settled();
  expect(projects()).toEqual([]);
  expect(ids()).toBe("p1-1 p2-1 p3-1 p3-2");
  await client.load("project", { id: long("p1", 1_500) }).ready;
  await settled();
  expect(projects()).toEqual(["p1"]);
  expect(ids()).toBe("p2-1 p3-1 p3-2");
  await expect(client.load("issue", { id: long("p2-2", 1_500) }).ready).rejects.toMatchObject({
    code: "invalid_options",
  });
  expect(ids()).toBe("p2-1 p3-1 p3-2");
});

test("[N25] a part is one object of conditions, which may be a proxy, and may change afterwards", async () => {
  const { open, settled } = start();
  const { client, ids } = await open();
  expect(() => client.load("issue", [{ projectId: "p1" }] as never)).toThrow(/plain object/);
  expect(() => client.load("issue", undefined as never)).toThrow(/plain object/);
  expect(() => client.load("issue", new Map() as never)).toThrow(/plain object/);
  const conditions = { projectId: "p1" };
  const part = client.load("issue", new Proxy(conditions, {}));
  conditions.projectId = "p2";
  await part.ready;
  await settled();
  expect(ids()).toBe("p1-1 p1-2");
  expect(client.models.issue.status({ where: { projectId: "p1" } })).toBe("complete");
});

test("[N24] a model whose conditions are undefined is not limited", async () => {
  const { open, settled } = start();
  const { client, ids } = await open();
  client.follow({ where: { issue: undefined, project: { name: "p1" } } });
  await settled();
  expect(ids()).toContain("p4-1");
  expect(client.models.project.list()).toHaveLength(1);
});

test("[N25] releasing a part that was refused does nothing", async () => {
  const { open, settled } = start();
  const { client } = await open();
  for (let n = 0; n < 400; n++) client.load("issue", { projectId: `p${n}` });
  const refused = client.load("issue", { projectId: "p999" });
  refused.release();
  await settled();
  await expect(refused.ready).rejects.toMatchObject({ code: "invalid_options" });
});

test("[N25] a model that is followed whole, or by conditions alone, is loaded already", async () => {
  const { open } = start();
  const { client, ids, connection } = await open({});
  await client.load("issue", { projectId: "p1" }).ready;
  expect(ids().split(" ")).toHaveLength(8);
  expect(connection.asked.snapshot).toBe(1);
});

test("[N25] [N70] of a model that is followed by one condition, what lies within it is loaded; anything else is refused", async () => {
  const { open } = start();
  const { client, ids } = await open({ where: { issue: { projectId: "p1" } } });
  await client.load("issue", { projectId: "p1" }).ready;
  await client.load("issue", { projectId: "p1", title: "2" }).ready;
  const refused = { code: "invalid_options", message: expect.stringContaining("has no list for the model") };
  await expect(client.load("issue", { projectId: "p2" }).ready).rejects.toMatchObject(refused);
  await expect(client.load("issue", { title: "2" }).ready).rejects.toMatchObject(refused);
  expect(ids()).toBe("p1-1 p1-2");
});

test("[N25] [N70] parts of a model that is not followed are refused", async () => {
  const { open } = start();
  const { client } = await open({ models: ["project"] });
  const refused = { code: "invalid_options", message: expect.stringContaining("has no list for the model") };
  await expect(client.load("issue", { projectId: "p1" }).ready).rejects.toMatchObject(refused);
  client.follow({ models: ["project"], where: { issue: [] } });
  await expect(client.load("issue", { projectId: "p1" }).ready).rejects.toMatchObject(refused);
  client.follow({ models: ["Project", "ISSUE"] as never, where: { issue: [] } });
  await client.load("issue", { projectId: "p1" }).ready;
  expect(client.models.issue.status({ where: { projectId: "p1" } })).not.toBe("loading");
});

test("[N25] [N74] [N73] released parts stay if the app follows the same again, or more; what it followed before and does not now goes", async () => {
  const { open, settled } = start();
  const { client, ids, connection } = await open({ where: { issue: [{ projectId: "p1" }] } });
  const part = client.load("issue", { projectId: "p2" });
  await part.ready;
  part.release();
  await settled();
  connection.rowsRead.length = 0;
  client.follow({ where: { issue: [{ projectId: "p1" }] } });
  await settled();
  expect([ids(), connection.rowsRead]).toEqual(["p1-1 p1-2 p2-1 p2-2", []]);
  client.follow({ where: { issue: [{ projectId: "p3" }] } });
  await settled();
  expect([ids(), connection.rowsRead]).toEqual(["p2-1 p2-2 p3-1 p3-2", ["p3-1", "p3-2"]]);
  client.follow({ where: { issue: { projectId: "p4" } } });
  await settled();
  expect(ids()).toBe("p4-1 p4-2");
});

test("[N25] [N81] [N74] what another tab named and names no more goes, and a released part that a tab has loaded stays for its own `follow`", async () => {
  const { open, settled } = start();
  const profile = new Profile();
  const [first, second] = [
    await open(NONE, { tabs: profile.tab().tabs }),
    await open(NONE, { tabs: profile.tab().tabs }),
  ];
  const named = (projectId: string) => ({ where: { issue: [{ projectId }] } });
  first.client.follow(named("p2"));
  await settled();
  second.client.follow(named("p3"));
  await settled();
  for (const { ids } of [first, second]) expect(ids()).toBe("p3-1 p3-2");
  first.client.follow(named("p4"));
  await settled();
  for (const { ids } of [first, second]) expect(ids()).toBe("p4-1 p4-2");
  // Of two calls at the same time, one is the later one for all tabs.
  first.client.follow(named("p1"));
  second.client.follow(named("p2"));
  await settled();
  await settled();
  for (const { ids } of [first, second]) expect(["p1-1 p1-2", "p2-1 p2-2"]).toContain(ids());
  expect(first.ids()).toBe(second.ids());
  first.client.follow(NONE);
  await settled();
  for (const { ids } of [first, second]) expect(ids()).toBe("");
});

test.each([
  ["the model is left out", { models: ["project"] }],
  ["one condition is followed", { where: { issue: { projectId: "p2" } } }],
] as const)("[N25] [N71] a part that can be followed no more before it was read is refused: %s", async (_, follow) => {
  const { open, settled } = start();
  const { client, ids, offline, online } = await open();
  offline();
  const part = client.load("issue", { projectId: "p1" });
  const refused = expect(part.ready).rejects.toMatchObject({ code: "invalid_options" });
  await settled();
  client.follow(follow);
  await refused;
  // Nothing uses it, as if it had been refused at once.
  client.follow(NONE);
  online();
  await settled();
  expect([ids(), client.status().rows]).toEqual(["", "complete"]);
});

test("[N25] [N71] a part with `keep` that was refused is not kept: it takes no room, and does not come back", async () => {
  const { open, settled } = start();
  const { client, ids, offline, online } = await open();
  offline();
  const parts = Array.from({ length: 50 }, (_, n) => client.load("issue", { projectId: `p${n}` }, { keep: true }));
  parts[0]?.release();
  const refused = parts.map(({ ready }) => expect(ready).rejects.toMatchObject({ code: "invalid_options" }));
  await settled();
  client.follow({ models: ["project"] });
  await Promise.all(refused);
  online();
  client.follow(NONE);
  await settled();
  expect(ids()).toBe("");
  await client.load("issue", { projectId: "p1" }).ready;
  expect(ids()).toBe("p1-1 p1-2");
});

test("[N25] [N72] a part that is released and dropped before it was read is never ready, and says so", async () => {
  const { open, settled, clock } = start();
  const { client, ids, offline, online } = await open(NONE, { releasedParts: 0 });
  offline();
  const part = client.load("issue", { projectId: "p1" });
  await settled();
  part.release();
  const dropped = expect(part.ready).rejects.toMatchObject({ code: "discarded" });
  const next = client.load("issue", { projectId: "p2" });
  await dropped;
  online();
  clock.advance(10_000);
  await next.ready;
  expect(ids()).toBe("p2-1 p2-2");
});

test("[N25] [N70] a part that lies within the one condition that is followed then is ready", async () => {
  const { open, settled } = start();
  const { client, ids, offline, online } = await open();
  offline();
  const part = client.load("issue", { projectId: "p1" });
  await settled();
  client.follow({ where: { issue: { projectId: "p1" } } });
  online();
  await part.ready;
  expect(ids()).toBe("p1-1 p1-2");
});

test("[N25] [N26] of released parts there stays no more than a server follows, when the app follows more, and after a reload", async () => {
  const { open, settled } = start();
  const list = (many: number) => ({ where: { issue: Array.from({ length: many }, (_, n) => ({ votes: n })) } });
  const { client, ids } = await open(list(1));
  for (const projectId of ["p1", "p2", "p3"]) {
    const part = client.load("issue", { projectId });
    await part.ready;
    part.release();
  }
  expect(ids().split(" ")).toHaveLength(6);
  client.follow(list(399));
  await settled();
  // One of the three.
  expect(ids().split(" ")).toHaveLength(2);
  expect(client.status()).toMatchObject({ name: "online", rows: "complete" });
  await client.close();
  const again = await open(list(400));
  await settled();
  expect(again.client.status()).toMatchObject({ name: "online", rows: "complete" });
  expect(again.ids()).toBe("");
});

test("[N25] a part is loaded however the model is spelled", async () => {
  const { open } = start();
  const { client, ids } = await open();
  const first = client.load("Issue" as "issue", { projectId: "p1" });
  await first.ready;
  expect(ids()).toBe("p1-1 p1-2");
  await client.load("issue", { projectId: "p1" }).ready;
  first.release();
  await client.load("ISSUE" as "issue", { projectId: "p2" }).ready;
  expect(ids()).toBe("p1-1 p1-2 p2-1 p2-2");
});

test("[N27] tabs share what they load: each sees all, and what one needs stays when another follows something else", async () => {
  const { open, settled, disk } = start();
  const profile = new Profile();
  const first = await open(NONE, { tabs: profile.tab().tabs });
  const second = await open(NONE, { tabs: profile.tab().tabs });
  await first.client.load("issue", { projectId: "p1" }).ready;
  await second.client.load("issue", { projectId: "p2" }).ready;
  await settled();
  for (const { ids } of [first, second]) expect(ids()).toBe("p1-1 p1-2 p2-1 p2-2");
  expect(second.connection.asked.snapshot).toBe(0);
  second.client.follow({ where: { issue: [{ projectId: "p4" }] } });
  await settled();
  await settled();
  for (const { ids } of [first, second]) expect(ids()).toBe("p1-1 p1-2 p2-1 p2-2 p4-1 p4-2");
  // A third tab finds it on disk.
  const third = await open(NONE, { tabs: profile.tab().tabs, on: disk });
  await settled();
  expect(third.ids()).toBe("p1-1 p1-2 p2-1 p2-2 p4-1 p4-2");
  await first.client.close();
  await settled();
  await second.client.load("issue", { projectId: "p3" }).ready;
  await settled();
  for (const { ids } of [second, third]) expect(ids()).toContain("p3-1 p3-2");
});

test.each([
  ["from the leader", 5_000, false],
  ["from disk, if there are many", 5_001, true],
])("[N47] other tabs get the rows of a new part %s", async (_, many, isOnDisk) => {
  const { open, commit, settled, disk } = start();
  for (let n = 0; n < many; n++) commit("create", `n${n}`, { projectId: "large", title: "1" });
  const profile = new Profile();
  const first = await open(NONE, { tabs: profile.tab().tabs });
  const second = await open(NONE, { tabs: profile.tab().tabs });
  const reads = vi.spyOn(disk, "look");
  const loaded = second.client.load("issue", { projectId: "large" });
  await loaded.ready;
  await settled();
  for (const { client } of [first, second]) expect(client.models.issue.list()).toHaveLength(many);
  expect(reads.mock.results.some(({ value }) => value.rows)).toBe(isOnDisk);
});

test("[N47] what goes with a new part goes in the other tabs too", async () => {
  const { open, settled, disk } = start();
  const profile = new Profile();
  const tab = () => open(NONE, { tabs: profile.tab().tabs, releasedParts: 0 });
  const [first, second] = [await tab(), await tab()];
  const reads = vi.spyOn(disk, "look");
  const loaded = first.client.load("issue", { projectId: "p1" });
  await loaded.ready;
  await settled();
  expect(second.ids()).toBe("p1-1 p1-2");
  loaded.release();
  await first.client.load("issue", { projectId: "p2" }).ready;
  await settled();
  for (const { ids } of [first, second]) expect(ids()).toBe("p2-1 p2-2");
  expect(reads.mock.results.some(({ value }) => value.rows)).toBe(false);
});

test("[N45] tabs that keep no released parts each keep what they use: neither drops the other's again and again", async () => {
  const { open, settled } = start();
  const profile = new Profile();
  const tab = () => open(NONE, { tabs: profile.tab().tabs, releasedParts: 0 });
  const [first, second, third] = [await tab(), await tab(), await tab()];
  await first.client.load("issue", { projectId: "p1" }).ready;
  await second.client.load("issue", { projectId: "p2" }).ready;
  await third.client.load("issue", { projectId: "p3" }).ready;
  await settled();
  for (const { ids } of [first, second, third]) expect(ids()).toBe("p1-1 p1-2 p2-1 p2-2 p3-1 p3-2");
});

test("[N45] tabs that use more parts together than can be followed leave each other alone, and get the rest when there is room", async () => {
  const { open, settled } = start();
  const profile = new Profile();
  const tab = () => open(NONE, { tabs: profile.tab().tabs, releasedParts: 0 });
  const [first, second] = [await tab(), await tab()];
  const load = ({ client }: typeof first, projects: readonly string[]) =>
    projects.map((projectId) => client.load("issue", { projectId }));
  const some = (name: string) => Array.from({ length: 29 }, (_, n) => `${name}${n}`);
  load(first, [...some("x"), "p1"]);
  await settled();
  const parts = load(second, [...some("y"), "p2"]);
  await settled();
  // Which of them had a place is as it comes.
  expect(first.ids()).toBe(second.ids());
  for (const { release } of parts) release();
  load(second, ["p3"]);
  await settled();
  for (const { ids } of [first, second]) expect(ids()).toBe("p1-1 p1-2 p3-1 p3-2");
});

test.each([
  ["that it did not hear of", (tab: ReturnType<Profile["tab"]>) => tab.dropMessages(), (tab) => tab.receiveMessages()],
  ["of a tab of the previous release", () => {}, () => {}],
] satisfies [string, ...((tab: ReturnType<Profile["tab"]>) => void)[]][])(
  "[N25] [N74] [N45] [N81] what another tab named goes with a call of `follow` %s",
  async (which, before, after) => {
    const { open, settled } = start();
    const profile = new Profile();
    const named = (projectId: string) => ({ where: { issue: [{ projectId }] } });
    const [one, other] = [profile.tab(), profile.tab()];
    const isOld = which.includes("previous");
    const post: typeof one.tabs.post = (message) =>
      one.tabs.post({ ...message, ...(isOld && { followed: undefined }) });
    const first = await open(named("p1"), { tabs: { ...one.tabs, post } });
    const second = await open(named("p1"), { tabs: other.tabs });
    before(other);
    first.client.follow(named("p2"));
    await settled();
    after(other);
    first.offline();
    await settled();
    first.online();
    for (let i = 0; i < 3; i++) await settled();
    for (const { ids } of [first, second]) expect(ids()).toBe("p2-1 p2-2");
  },
);

test.each([
  ["which one was opened with", true],
  ["which one has followed since", false],
])("[N26] [N45] a load drops no part that another tab follows: %s", async (_, atOpening) => {
  const { open, settled, kept } = start();
  const profile = new Profile();
  const tab = (follow: typeof NONE | { where: { issue: { projectId: string }[] } }) =>
    open(follow, { tabs: profile.tab().tabs, releasedParts: 0 });
  const named = { where: { issue: [{ projectId: "p1" }] } };
  const first = await tab(atOpening ? named : NONE);
  const second = await tab(NONE);
  if (!atOpening) first.client.follow(named);
  await settled();
  const asked = first.connection.asked.snapshot;
  await second.client.load("issue", { projectId: "p2" }).ready;
  await settled();
  await settled();
  for (const { ids } of [first, second]) expect(ids()).toBe("p1-1 p1-2 p2-1 p2-2");
  expect(kept()).toBe("p1-1 p1-2 p2-1 p2-2");
  expect(first.connection.asked.snapshot - asked).toBe(1);
});

test("[N46] a record with a write on its way is shown when its part goes, also after a reload, until the write is in the log", async () => {
  const { open, settled, kept, clock } = start();
  const { client, ids, connection } = await open(NONE, { releasedParts: 0 });
  const first = client.load("issue", { projectId: "p1" });
  await first.ready;
  connection.answers.push("held back");
  const write = client.models.issue.update("p1-1", { votes: increment(1) });
  await write.queued;
  first.release();
  await client.load("issue", { projectId: "p2" }).ready;
  await settled();
  expect([ids(), kept()]).toEqual(["p1-1 p2-1 p2-2", "p2-1 p2-2"]);
  expect(client.models.issue.get("p1-1")).toEqual({ id: "p1-1", ...ISSUE, votes: 1 });
  await client.close();
  const offline = await open(NONE, { up: false });
  expect(offline.client.models.issue.get("p1-1")).toEqual({ id: "p1-1", ...ISSUE, votes: 1 });
  offline.online();
  await settled();
  clock.advance(10_000);
  await settled();
  expect(offline.ids()).toBe("p2-1 p2-2");
});

test("[N46] a record that was deleted is not shown again because of a write to it", async () => {
  const { open, commit, settled } = start();
  const { client, ids, connection } = await open(NONE, { releasedParts: 0 });
  await client.load("issue", { projectId: "p1" }).ready;
  connection.answers.push("held back");
  await client.models.issue.update("p1-1", { title: "mine" }).queued;
  commit("delete", "p1-1");
  await settled();
  expect(ids()).toBe("p1-2");
});

test("[N25] a part that is loaded while the server is away is ready when it answers; closing rejects it", async () => {
  const { open, settled, clock } = start();
  const { client, ids, offline, online } = await open();
  offline();
  await settled();
  const part = client.load("issue", { projectId: "p1" });
  let isReady = false;
  void part.ready.then(() => {
    isReady = true;
  });
  await settled();
  expect([isReady, ids()]).toEqual([false, ""]);
  online();
  for (let i = 0; i < 5 && !isReady; i++) {
    clock.advance(10_000);
    await settled();
  }
  expect([isReady, ids()]).toEqual([true, "p1-1 p1-2"]);
  offline();
  await settled();
  const late = client.load("issue", { projectId: "p2" });
  await settled();
  const failed = expect(late.ready).rejects.toMatchObject({ code: "client_closed" });
  await client.close();
  await failed;
});

test.each([
  ["no released part", { releasedParts: 0 }],
  ["no row of released parts", { releasedRows: 0 }],
])("[N26] [N27] tabs of an app that keeps %s have what each of them uses, and ask for no more", async (_, options) => {
  const { open, settled } = start();
  const profile = new Profile();
  const first = await open(NONE, { tabs: profile.tab().tabs, ...options });
  const second = await open(NONE, { tabs: profile.tab().tabs, ...options });
  await first.client.load("issue", { projectId: "p1" }).ready;
  await second.client.load("issue", { projectId: "p2" }).ready;
  await settled();
  for (const { ids } of [first, second]) expect(ids()).toBe("p1-1 p1-2 p2-1 p2-2");
  const asked = first.connection.asked.snapshot;
  await settled();
  expect(first.connection.asked.snapshot).toBe(asked);
});
