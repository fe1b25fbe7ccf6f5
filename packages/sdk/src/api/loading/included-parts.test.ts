import { expect, test } from "vitest";
import type { Scope } from "../../core/log/rows.ts";
import { changeTables } from "../../core/log/tables.ts";
import { type ClientState, initialState } from "../../core/state.ts";
import type { Engine } from "../../engine/engine.ts";
import type { FollowedConditions } from "../../protocol/log/followed-records.ts";
import { MemoryDisk } from "../../storage/memory.ts";
import { BrowserProfile } from "../../testing/browser-profile.ts";
import { otherWriter } from "../../testing/other-writer.ts";
import { createTestServer } from "../../testing/test-server.ts";
import { IncludedParts } from "./included-parts.ts";

const schema = {
  models: {
    project: { fields: { name: { type: "string" } } },
    label: { fields: { name: { type: "string" } } },
    issue: {
      fields: {
        projectId: { type: "string", references: "project", inverse: "issues" },
        labelIds: { type: "array", references: "label", inverse: "labelled" },
      },
    },
    comment: {
      fields: { kind: { type: "string" }, issueId: { type: "string", references: "issue", inverse: "comments" } },
    },
  },
} as const;

const PARTS = { where: { issue: [], comment: [], label: [] } } as const;

/** Two projects of three issues, each with two comments and a label of its own. */
async function start(issues = 3) {
  const own = createTestServer(schema);
  const commit = otherWriter(own.server, "comment");
  for (const project of ["p1", "p2"]) {
    commit("create", project, { name: project }, "project");
    for (let n = 0; n < issues; n++) {
      const id = `${project}-${n}`;
      commit("create", `l-${id}`, { name: id }, "label");
      commit("create", id, { projectId: project, labelIds: [`l-${id}`] }, "issue");
      for (const c of [1, 2]) commit("create", `${id}-c${c}`, { issueId: id });
    }
  }
  const disk = new MemoryDisk();
  const open = async (options: Partial<Parameters<typeof own.client>[0]> = {}) => {
    const made = own.client({ disk, follow: PARTS, ...options });
    await settled();
    return made;
  };
  const settled = async () => {
    for (let i = 0; i < 6; i++) await own.settle();
  };
  const made = await open();
  const { models } = made.client;
  const query = { where: { projectId: "p1" }, include: { comments: true } } as const;
  const included = () =>
    models.issue.list({ ...query, orderBy: "id" }).map(({ id, comments }) => `${id} ${comments.length}`);
  return {
    ...own,
    ...made,
    models,
    disk,
    commit,
    open,
    settled,
    query,
    included,
    status: () => models.issue.status(query),
  };
}

test("[N54] [N77] a part is loaded with what references its records, and the query that includes this is complete", async () => {
  const { client, models, settled, included, status } = await start();
  const seen = new Set<string>();
  client.subscribe(() => seen.add(status()));
  expect(status()).toBe("partial");
  await client.load("issue", { projectId: "p1" }, { include: { comments: true } }).ready;
  await settled();
  expect(included()).toEqual(["p1-0 2", "p1-1 2", "p1-2 2"]);
  expect([models.comment.count(), models.label.count()]).toEqual([6, 0]);
  expect(status()).toBe("complete");
  expect(seen.has("loading")).toBe(true);
  expect(models.issue.status({ where: { projectId: "p1" }, include: { comments: true, labels: true } })).toBe(
    "partial",
  );
});

test("[N54] what comes to the part, or leaves it, takes along what references it", async () => {
  const { client, models, commit, settled, included, status } = await start();
  await client.load("issue", { projectId: "p1" }, { include: { comments: true } }).ready;
  commit("update", "p2-0", { projectId: "p1" }, "issue");
  commit("create", "p1-9", { projectId: "p1" }, "issue");
  commit("create", "p1-9-c1", { issueId: "p1-9" });
  await settled();
  expect(included()).toEqual(["p1-0 2", "p1-1 2", "p1-2 2", "p1-9 1", "p2-0 2"]);
  expect(status()).toBe("complete");
  // A comment that refers to another issue now.
  commit("update", "p2-1-c1", { issueId: "p1-9" });
  commit("delete", "p1-0-c1");
  await settled();
  expect(included()).toEqual(["p1-0 1", "p1-1 2", "p1-2 2", "p1-9 2", "p2-0 2"]);
  commit("update", "p2-0", { projectId: "p2" }, "issue");
  await settled();
  expect(included()).toEqual(["p1-0 1", "p1-1 2", "p1-2 2", "p1-9 2"]);
  expect([status(), models.comment.status({ where: { issueId: "p1-9" } })]).toEqual(["complete", "complete"]);
});

test("[N54] what records reference by a field or an array is loaded as well, and what references them by an array", async () => {
  const { client, models, settled } = await start();
  await client.load("issue", { projectId: "p1" }, { include: { labels: true, project: true } }).ready;
  await settled();
  const labels = models.issue.list({ include: { labels: true }, orderBy: "id" }).map((issue) => issue.labels.length);
  expect(labels).toEqual([1, 1, 1]);
  expect(models.label.count()).toBe(3);
  expect(models.issue.status({ where: { projectId: "p1" }, include: { labels: true, project: true } })).toBe(
    "complete",
  );
  await client.load("label", { id: "l-p2-1" }, { include: { labelled: true } }).ready;
  await settled();
  expect(models.issue.get("p2-1")?.projectId).toBe("p2");
  expect(models.label.status({ where: { id: "l-p2-1" }, include: { labelled: true } })).toBe("complete");
});

test("[N54] [N76] released with its part, and after a reload what is there is not read again", async () => {
  const { client, open, commit, settled } = await start();
  await client.load("issue", { projectId: "p1" }, { include: { comments: true } }).ready;
  // It comes to a piece of its own.
  commit("create", "p1-9", { projectId: "p1" }, "issue");
  await settled();
  await client.close();
  const again = await open();
  const { snapshot } = again.connection.asked;
  const next = again.client.load("issue", { projectId: "p1" }, { include: { comments: true } });
  await next.ready;
  await settled();
  expect(again.client.models.comment.count()).toBe(6);
  expect(again.connection.asked.snapshot).toBe(snapshot);
  next.release();
  for (let n = 0; n <= 20; n++) {
    const other = again.client.load("comment", { issueId: `none-${n}` });
    await other.ready;
    other.release();
  }
  await settled();
  expect(again.client.models.comment.count()).toBe(0);
  expect(again.client.models.issue.count()).toBe(4);
});

test("[N54] [N76] hundreds of records are asked for in pieces, and those that came one by one are joined", async () => {
  const { client, models, connection, commit, settled, status } = await start(250);
  const { snapshot } = connection.asked;
  await client.load("issue", { projectId: "p1" }, { include: { comments: true } }).ready;
  await settled();
  expect(models.comment.count()).toBe(500);
  expect(connection.asked.snapshot - snapshot).toBeLessThan(8);
  const pieces = connection.frames.flatMap((frame) => (frame.frame === "subscribe" ? frame.parts : []));
  expect(pieces.filter((part) => part.model === "comment")).toHaveLength(3);
  for (let n = 0; n < 20; n++) {
    commit("create", `p1-new-${n}`, { projectId: "p1" }, "issue");
    await settled();
  }
  expect(status()).toBe("complete");
  expect(models.comment.count()).toBe(500);
});

test("[N54] [N78] an unknown relation, and one of a model that is not followed, are refused", async () => {
  const { client, open } = await start();
  const load = (include: object) => client.load("issue", { projectId: "p1" }, { include: include as never }).ready;
  await expect(load({ nope: true })).rejects.toMatchObject({ code: "invalid_options" });
  await load({ comments: false, labels: undefined });
  const other = await open({ follow: { models: ["issue"], where: { issue: [] } }, disk: new MemoryDisk() });
  const part = other.client.load("issue", { projectId: "p1" }, { include: { comments: true } });
  await expect(part.ready).rejects.toMatchObject({ code: "invalid_options" });
});

/** Parts that take up room. */
async function fill({ client }: Pick<Awaited<ReturnType<typeof start>>, "client">, many: number) {
  const parts = Array.from({ length: many }, (_, n) => client.load("comment", { issueId: `fill-${n}` }));
  await Promise.all(parts.map(({ ready }) => ready));
  return parts;
}

test("[N54] records that come two by two are joined as well, and near the limit", async () => {
  const made = await start();
  const { client, commit, settled, status } = made;
  await fill(made, 375);
  await client.load("issue", { projectId: "p1" }, { include: { comments: true } }).ready;
  for (let n = 0; n < 30; n++) {
    for (const one of "ab") commit("create", `n-${n}-${one}`, { projectId: "p1" }, "issue");
    await settled();
  }
  expect(status()).toBe("complete");
});

test("[N54] where there is no room for what joins pieces beside them, they make room for it", async () => {
  const made = await start();
  const { client, models, commit, settled, status } = made;
  const all = await fill(made, 390);
  await client.load("issue", { projectId: "p1" }, { include: { comments: true } }).ready;
  for (let n = 0; n < 12; n++) {
    commit("create", `n-${n}`, { projectId: "p1" }, "issue");
    commit("create", `n-${n}-c`, { issueId: `n-${n}` });
    await settled();
  }
  for (const part of all.slice(0, 60)) part.release();
  for (let n = 0; n < 30; n++) {
    const other = client.load("comment", { issueId: `x-${n}` });
    await other.ready;
    other.release();
    await settled();
  }
  expect([status(), models.comment.count()]).toEqual(["complete", 18]);
});

test("[N54] what had no room is read when there is some", async () => {
  const made = await start();
  const { client, models, commit, settled, status } = made;
  const all = await fill(made, 398);
  await client.load("issue", { projectId: "p1" }, { include: { comments: true } }).ready;
  commit("create", "p1-9", { projectId: "p1" }, "issue");
  commit("create", "p1-9-c", { issueId: "p1-9" });
  await settled();
  expect(status()).toBe("partial");
  for (const part of all) part.release();
  commit("create", "p1-10", { projectId: "p1" }, "issue");
  await settled();
  expect([status(), models.comment.count()]).toEqual(["complete", 7]);
});

test("[N54] what is kept is kept for the records that the part has, and loaded once for all who ask", async () => {
  const { client, models, commit, settled } = await start();
  const load = (keep: boolean) => client.load("issue", { projectId: "p1" }, { keep, include: { comments: true } });
  await load(true).ready;
  const other = load(false);
  await other.ready;
  other.release();
  other.release();
  await settled();
  expect(models.comment.count()).toBe(6);
  for (const n of [0, 1, 2]) commit("update", `p1-${n}`, { projectId: "p2" }, "issue");
  await settled();
  for (let n = 0; n <= 25; n++) {
    const one = client.load("comment", { issueId: `none-${n}` });
    await one.ready;
    one.release();
  }
  await settled();
  expect(models.comment.count()).toBe(0);
});

test("[N54] of a model that one condition limits, all is there already", async () => {
  const { open, settled } = await start();
  const follow = { where: { issue: [], comment: { kind: "a" } } };
  const { client } = await open({ disk: new MemoryDisk(), follow });
  await client.load("issue", { projectId: "p1" }, { include: { comments: true } }).ready;
  await settled();
  expect(client.models.issue.status({ where: { projectId: "p1" }, include: { comments: true } })).toBe("complete");
});

test("[N54] a part whose related records are refused does not stay in use", async () => {
  const { open } = await start();
  const { client } = await open({ disk: new MemoryDisk(), follow: { models: ["issue"], where: { issue: [] } } });
  for (const projectId of ["p1", "none"])
    await expect(client.load("issue", { projectId }, { include: { comments: true } }).ready).rejects.toThrow(/comment/);
  for (let n = 0; n <= 25; n++) {
    const other = client.load("issue", { projectId: `x-${n}` });
    await other.ready;
    other.release();
  }
  expect(client.models.issue.count()).toBe(0);
});

test("[N54] [N27] two tabs load the same, and what one releases the other still has, also what comes later", async () => {
  const { open, commit, settled } = await start();
  const profile = new BrowserProfile();
  const one = await open({ platform: profile.platform, releasedParts: 0 });
  const other = await open({ platform: profile.platform, releasedParts: 0 });
  await settled();
  const load = ({ client }: typeof one) => client.load("issue", { projectId: "p1" }, { include: { comments: true } });
  const [first, second] = [load(one), load(other)];
  await Promise.all([first.ready, second.ready]);
  await settled();
  const counts = () => [one, other].map(({ client }) => client.models.comment.count());
  expect(counts()).toEqual([6, 6]);
  first.release();
  await one.client.load("comment", { issueId: "none" }).ready;
  commit("create", "p1-9", { projectId: "p1" }, "issue");
  commit("create", "p1-9-c1", { issueId: "p1-9" });
  await settled();
  expect(counts()).toEqual([7, 7]);
  const query = { where: { projectId: "p1" }, include: { comments: true } } as const;
  expect(other.client.models.issue.status(query)).toBe("complete");
});

test("[N54] an archived comment, and one that is erased, come and go as in any part", async () => {
  const { client, models, server, settled } = await start();
  await client.load("issue", { projectId: "p1" }, { include: { comments: true } }).ready;
  const act = (action: string, id: string) =>
    server.commit(
      { operations: [{ action, model: "comment", id }], clientTxId: `${action} ${id}`, clientId: "c" } as never,
      "ben",
    );
  act("archive", "p1-0-c1");
  await settled();
  const comments = (archived: "with" | "without") =>
    models.issue.list({ where: { id: "p1-0" }, include: { comments: { archived } } })[0]?.comments.map(({ id }) => id);
  expect([comments("without"), comments("with")]).toEqual([["p1-0-c2"], ["p1-0-c1", "p1-0-c2"]]);
  act("delete", "p1-0-c2");
  await settled();
  expect(comments("with")).toEqual(["p1-0-c1"]);
});

test("[N54] to load a piece changes what is followed, and loads none of them twice", () => {
  const issues = Array.from({ length: 250 }, (_, n) => ({ model: "issue", id: `i-${n}` }));
  const changes = issues.map((record) => ({ record, value: { data: { id: record.id }, syncId: 1, archivedAt: null } }));
  const listeners = new Set<(state: ClientState) => void>();
  const scope = (comment: FollowedConditions[]): Scope => ({ where: { issue: [], comment } });
  let state: ClientState = {
    ...initialState({ schema, paused: false, sendAtMost: 100, scope: scope([]) }),
    rows: { tables: changeTables({}, changes), logId: "log_1", position: 1 },
  };
  const loaded: FollowedConditions[] = [];
  const store = {
    getState: () => state,
    subscribe: (listener: (state: ClientState) => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  const load = (_: string, conditions: FollowedConditions) => {
    loaded.push(conditions);
    state = { ...state, scope: scope([...loaded]) };
    for (const listener of listeners) listener(state);
    return { ready: Promise.resolve(), release: () => {} };
  };
  const relation = { model: "comment", field: "issueId", kind: "inverse" } as const;
  new IncludedParts({ engine: { store } as unknown as Engine, load }, { model: "issue", meets: () => true }, relation);
  expect(loaded.map(({ issueId }) => (issueId as { readonly in: readonly string[] }).in.length)).toEqual([
    100, 100, 50,
  ]);
});
