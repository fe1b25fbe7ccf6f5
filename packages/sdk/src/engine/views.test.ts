import { expect, test, vi } from "vitest";
import { MemoryDisk } from "../storage/memory.ts";
import { Profile } from "../testing/profile.ts";
import { passing, startClient } from "../testing/start-client.ts";
import { createTestServer, type TestClientOptions } from "../testing/test-server.ts";

const schema = {
  models: { slide: { fields: { title: { type: "string" } } }, note: { fields: { text: { type: "string" } } } },
} as const;

/** Records a and b, and a client that has read both. */
async function start(options: TestClientOptions = {}) {
  const made = await startClient(schema, options);
  for (const id of ["a", "b"]) await made.client.models.slide.create({ title: id }, { id }).receipt;
  await made.settle();
  return made;
}

const shown = ({ models }: { models: { slide: { list(): readonly { id: string }[] } } }) =>
  models.slide.list().map(({ id }) => id);

test.each(["a reload", "a cut", "days offline", "no stream"])(
  "[N15] [N97] [N57] a member who leaves a group loses its records, and one who joins gets them, after %s",
  async (how) => {
    const stream = how !== "no stream";
    let { client, connection, disk, pass, open, settle, clock } = await start({ stream });
    const again = async () => {
      const { hidden, viewHash } = connection;
      if (how === "cut" || !stream) connection.cut?.();
      if (how === "days offline") connection.up = false;
      if (how === "days offline") clock.advance(86_400_000 * 3);
      if (how === "a reload") {
        await client.close();
        ({ client, connection } = open({ disk }));
      } else {
        connection.cut?.();
        connection.up = true;
      }
      Object.assign(connection, { viewHash });
      for (const id of hidden) connection.hidden.add(id);
      await settle();
      await pass(8);
    };
    connection.viewHash = "narrow";
    connection.hidden.add("b");
    await again();
    expect(shown(client)).toEqual(["a"]);
    expect(disk.rows().tables.slide?.size).toBe(1);
    connection.viewHash = "wide";
    connection.hidden.clear();
    await again();
    connection.hidden.clear();
    expect(shown(client)).toEqual(["a", "b"]);
    const { snapshot } = connection.asked;
    await pass(8);
    expect(connection.asked.snapshot).toBe(snapshot);
  },
);

test("[N15] [N57] the old rows stay until the new view is loaded, in followers too, and a write to a record out of view is kept", async () => {
  const disk = new MemoryDisk();
  const profile = new Profile();
  const first = profile.tab();
  const { client, connection, open, pass, settle } = await start({ disk, platform: { tabs: () => first.tabs } });
  const second = open({ disk, platform: { tabs: () => profile.tab().tabs } });
  await settle();
  expect(shown(second.client)).toEqual(["a", "b"]);
  const seen: number[] = [];
  client.subscribe(() => void seen.push(client.models.slide.list().length));
  connection.answers.push("held back");
  const write = client.models.slide.update("b", { title: "mine" });
  await write.queued;
  connection.viewHash = "narrow";
  connection.hidden.add("b");
  connection.cut?.();
  await pass(5);
  expect(shown(second.client)).toEqual(["a"]);
  expect(seen).not.toContain(0);
  expect(client.pending()).toHaveLength(1);
  connection.release();
  await write.receipt;
});

test("[N15] [N58] rows of a token that covers nothing any more go, also from the disk", async () => {
  const { client, connection, disk, pass } = await start();
  const denied = { type: "permission_error", code: "capability_scope_denied", message: "Not covered." };
  connection.refused = { kind: "answer", status: 403, body: denied };
  connection.viewHash = "nothing";
  connection.cut?.();
  await pass(5);
  expect(shown(client)).toEqual([]);
  expect(disk.rows().tables.slide?.size ?? 0).toBe(0);
  expect(client.status().unreadable).toEqual(["slide", "note"]);
  connection.refused = undefined;
  connection.covered = ["slide", "note"];
  await pass(40);
  expect(shown(client)).toEqual(["a", "b"]);
  expect(client.status().unreadable).toEqual([]);
});

test("[N17] a model that may not be read stops nothing, and is named", async () => {
  const { client, connection, pass, settle } = await start();
  connection.covered = ["slide"];
  connection.viewHash = "less";
  connection.cut?.();
  await pass(3);
  expect(client.status()).toMatchObject({ name: "online", unreadable: ["note"] });
  expect(shown(client)).toEqual(["a", "b"]);
  connection.covered = undefined;
  connection.say({ frame: "schema", version: 2, hash: "h", models: ["slide", "note"] });
  await settle();
  expect(client.status().unreadable).toEqual([]);
});

/** A client whose tokens last 100 s. */
async function startRenewing(getToken: () => string) {
  const own = createTestServer(schema);
  const made = own.client({ getToken });
  made.connection.expiresInMs = 100_000;
  await made.client.ready();
  await own.settle();
  return { ...own, ...made, pass: passing(own) };
}

test("[N16] [N62] a token is renewed before it ends, and the app sees nothing of it", async () => {
  const warn = vi.spyOn(console, "warn");
  let requests = 0;
  const { client, connection, clock, settle } = await startRenewing(() => `token-${++requests}`);
  const statuses = new Set<string>();
  client.subscribe(() => void statuses.add(JSON.stringify(client.status())));
  clock.advance(74_000);
  await settle();
  expect(requests).toBe(1);
  clock.advance(7_000);
  await settle();
  expect(connection.frames).toEqual([{ frame: "auth", token: "token-2" }]);
  connection.badTokens.add("token-1");
  await client.models.slide.create({ title: "after" }).receipt;
  expect(connection.asked.socket).toBe(1);
  expect([...statuses].every((status) => JSON.parse(status).name === "online")).toBe(true);
  clock.advance(86_000);
  await settle();
  expect(connection.frames.at(-1)).toEqual({ frame: "auth", token: "token-3" });
  expect(warn).not.toHaveBeenCalled();
  warn.mockRestore();
});

test("[N16] [N63] if the app returns the same token, it is asked again at half of the remaining time; a refused token leads to needs-auth", async () => {
  let token = "same";
  let requests = 0;
  const { connection, clock, settle } = await startRenewing(() => {
    requests += 1;
    return token;
  });
  clock.advance(81_000);
  await settle();
  expect(requests).toBe(2);
  expect(connection.frames).toEqual([]);
  token = "other";
  clock.advance(10_000);
  await settle();
  expect(connection.frames).toEqual([{ frame: "auth", token: "other" }]);
  connection.viewHash = "wider";
  token = "third";
  const { snapshot } = connection.asked;
  clock.advance(81_000);
  await settle();
  expect(connection.asked.snapshot).toBe(snapshot + 1);
});

test("[N16] [N64] a next token that the server does not answer is said again before the present one ends", async () => {
  let requests = 0;
  const { client, connection, pass } = await startRenewing(() => `token-${++requests}`);
  connection.deafToTokens = true;
  await pass(81);
  expect(connection.frames).toEqual([{ frame: "auth", token: "token-2" }]);
  connection.deafToTokens = false;
  await pass(12);
  expect(connection.frames.map((frame) => frame.frame)).toEqual(["auth", "auth"]);
  // The server took it: requests go out under it, on the same line.
  connection.badTokens.add("token-1");
  await client.models.slide.create({ title: "after" }).receipt;
  expect(connection.asked.socket).toBe(1);
});

test("[N16] [N64] said again and again without an answer, it is not said without end", async () => {
  let requests = 0;
  const { connection, pass } = await startRenewing(() => `token-${++requests}`);
  connection.deafToTokens = true;
  await pass(200);
  expect(connection.frames.length).toBeGreaterThan(2);
  expect(connection.frames.length).toBeLessThan(10);
});
