import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { WebhookEvent } from "@holdfast/sdk/protocol";
import { afterEach, beforeEach, expect, test } from "vitest";
import { mirrorProgram, nodeWords } from "../dev/project.ts";
import { type MirroredRecord, readMirror } from "./testing/records.ts";
import { webhookService } from "./testing/webhook-service.ts";
import type { MirrorState } from "./words.ts";

const SECONDS = 1_000;

let folder = "";
let service: Awaited<ReturnType<typeof webhookService>>;
const running: ChildProcess[] = [];
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-mirror-"));
  service = await webhookService();
  writeFileSync(join(folder, "demo.json"), JSON.stringify({ serverUrl: service.url }));
});
afterEach(async () => {
  for (const child of running.splice(0)) await end(child, "SIGKILL");
  service.close();
  rmSync(folder, { recursive: true });
});

/** The program itself, until it says that it is ready. */
async function start(): Promise<ChildProcess> {
  const child = spawn(process.execPath, nodeWords(mirrorProgram), {
    env: { ...process.env, HOLDFAST_DATA_DIR: folder, HOLDFAST_SECRET_KEY: "sk_test_of_this_test" },
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  running.push(child);
  await Promise.race([
    once(child, "message"),
    once(child, "exit").then(() => Promise.reject(new Error("The mirror ended before it was ready."))),
  ]);
  return child;
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill(signal);
  await once(child, "exit");
}

/** Where its port is taken meanwhile it also moves its endpoint; it never makes another one. */
const registrations = () => service.asked.filter((one) => one.startsWith("POST"));

const keptFile = () => join(folder, "mirror", "endpoint.json");
const databaseFile = () => join(folder, "mirror", "mirror.db");

const slide = (syncId: number, verb: string, objectId: string): WebhookEvent => ({
  ...{ type: `slide.${verb}`, model: "slide", objectId, syncId, id: String(syncId) },
  data: verb === "deleted" ? null : { id: objectId, title: `Title ${syncId}` },
  createdAt: "2026-01-31T10:00:00.000Z",
});

test("[W51] the mirror registers once, keeps its secret private, and finds its registration again", {
  timeout: 60 * SECONDS,
}, async () => {
  await end(await start(), "SIGTERM");
  expect(service.asked).toEqual(["POST /v1/webhook_endpoints"]);
  expect(service.endpoints()).toMatchObject([{ cursor: 0, description: expect.stringContaining(folder) }]);
  expect(statSync(keptFile()).mode & 0o777).toBe(0o600);
  const { id, secret } = JSON.parse(readFileSync(keptFile(), "utf8")) as { id: string; secret: string };

  await end(await start(), "SIGKILL");
  expect(registrations()).toHaveLength(1);
  expect(await service.deliver([slide(1, "created", "a")])).toBe("no answer");
  await start();
  expect(service.endpoints()).toMatchObject([{ id, secret }]);
  expect(await service.deliver([slide(1, "created", "a")])).toBe(200);
  expect(readMirror(databaseFile())).toMatchObject({ position: 1, records: [{ id: "a", syncId: 1 }] });
});

test("[W51] without its file it rolls the secret, without its copy it begins from the start", {
  timeout: 60 * SECONDS,
}, async () => {
  await end(await start(), "SIGTERM");
  rmSync(keptFile());
  const child = await start();
  expect(service.asked.some((one) => one.endsWith("/roll_secret"))).toBe(true);
  expect(await service.deliver([slide(1, "created", "a")])).toBe(200);
  await end(child, "SIGTERM");
  rmSync(join(folder, "mirror"), { recursive: true });
  const again = await start();
  expect(service.endpoints()).toMatchObject([{ cursor: 0 }]);
  expect(await service.deliver([slide(1, "created", "a"), slide(2, "created", "b")])).toBe(200);
  expect(readMirror(databaseFile()).records).toHaveLength(2);
  await end(again, "SIGTERM");
  // The server begins another log.
  service.log.id = "log_2";
  await start();
  expect(readMirror(databaseFile())).toEqual({ position: 0, records: [] });
  expect(service.endpoints()).toMatchObject([{ cursor: 0 }]);
});

test("the mirror fails when set to fail, and continues where it stopped", { timeout: 60 * SECONDS }, async () => {
  const child = await start();
  const told = async (isFailing: boolean) => {
    child.send({ isFailing });
    const [state] = (await once(child, "message")) as [MirrorState];
    expect(state).toMatchObject({ isFailing });
  };
  expect(await service.deliver([slide(1, "created", "a")])).toBe(200);
  await told(true);
  expect(await service.deliver([slide(2, "updated", "a")])).toBe(500);
  await told(false);
  expect(await service.deliver([slide(2, "updated", "a")])).toBe(200);
  expect(readMirror(databaseFile())).toMatchObject({ position: 2, records: [{ data: { title: "Title 2" } }] });
});

test("[W50] killed at any moment, its records are those of its position", { timeout: 120 * SECONDS }, async () => {
  const verbs = ["created", "updated", "archived", "updated", "unarchived", "deleted"];
  const events = Array.from({ length: 3_000 }, (_, at) => slide(at + 1, verbs[(at >> 3) % 6] ?? "", `s${at % 24}`));
  const after = states(events);
  let kills = 0;
  while (service.endpoints()[0]?.cursor !== events.length) {
    const child = await start();
    const isLast = kills === 5;
    const killed = isLast
      ? new Promise<never>(() => {})
      : new Promise((resolve) => setTimeout(resolve, Math.random() * 60)).then(() => end(child, "SIGKILL"));
    const sent = (async () => {
      for (;;) {
        const cursor = service.endpoints()[0]?.cursor ?? 0;
        if (cursor === events.length) return;
        const status = await service.deliver(events.slice(cursor, cursor + 100));
        if (status === "no answer") return;
        expect(status).toBe(200);
      }
    })();
    await Promise.race([sent, killed]);
    await Promise.allSettled([sent, ...(isLast ? [] : [killed])]);
    kills += 1;
    const { position, records } = readMirror(databaseFile());
    expect(position).toBeGreaterThanOrEqual(service.endpoints()[0]?.cursor ?? 0);
    expect(records).toEqual(after[position]);
  }
  expect(kills).toBeGreaterThan(2);
  expect(registrations()).toHaveLength(1);
});

/** What a copy holds after each event. */
function states(events: readonly WebhookEvent[]): MirroredRecord[][] {
  const now = new Map<string, MirroredRecord>();
  return [
    [],
    ...events.map(({ type, model, objectId: id, data, syncId }) => {
      const isArchived =
        type.endsWith(".archived") || (type.endsWith(".updated") && (now.get(id)?.isArchived ?? false));
      if (data === null) now.delete(id);
      else now.set(id, { model, id, data, isArchived, syncId });
      return [...now.values()].sort((one, other) => (one.id < other.id ? -1 : 1));
    }),
  ];
}
