import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { WebhookEvent } from "@holdfast/sdk/protocol";
import { mirrorProgram, nodeWords } from "../../dev/project.ts";
import { type MirroredRecord, readMirror } from "./records.ts";
import { webhookService } from "./webhook-service.ts";

/** The mirror's program as a process, with a folder and a service of its own. `words`: how Node runs it. */
export async function mirrorProcesses(words: readonly string[] = nodeWords(mirrorProgram)) {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-mirror-"));
  const service = await webhookService();
  writeFileSync(join(folder, "demo.json"), JSON.stringify({ serverUrl: service.url }));
  const running: ChildProcess[] = [];
  return {
    folder,
    service,
    databaseFile: () => join(folder, "mirror", "mirror.db"),
    /** Starts the program. Resolves when it says that it is ready. */
    async start(): Promise<ChildProcess> {
      const child = spawn(process.execPath, words, {
        env: { ...process.env, HOLDFAST_DATA_DIR: folder, HOLDFAST_SECRET_KEY: "sk_test_of_this_test" },
        stdio: ["ignore", "ignore", "ignore", "ipc"],
      });
      running.push(child);
      await Promise.race([
        once(child, "message"),
        once(child, "exit").then(() => Promise.reject(new Error("The mirror ended before it was ready."))),
      ]);
      return child;
    },
    async close() {
      for (const child of running) await end(child, "SIGKILL");
      service.close();
      rmSync(folder, { recursive: true });
    },
  };
}

export type Mirror = Awaited<ReturnType<typeof mirrorProcesses>>;

export async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill(signal);
  await once(child, "exit");
}

export const slide = (syncId: number, verb: string, objectId: string): WebhookEvent => ({
  ...{ type: `slide.${verb}`, model: "slide", objectId, syncId, id: String(syncId) },
  data: verb === "deleted" ? null : { id: objectId, title: `Title ${syncId}` },
  createdAt: "2026-01-31T10:00:00.000Z",
});

const AT_ONCE = 100;

/**
 * A process is killed during a delivery: after it has answered so many, and when so many milliseconds have passed since the
 * next one began, or so many of its events are on disk.
 */
export type Kill = { readonly answered: number } & ({ readonly afterMs: number } | { readonly onDisk: number });

/** Delivers this many events to processes that are killed meanwhile, and to a last one. Yields what is on disk meanwhile. */
export async function* deliverDuringKills(
  { start, service, databaseFile }: Mirror,
  count: number,
  kills: readonly Kill[],
) {
  const verbs = ["created", "updated", "archived", "updated", "unarchived", "deleted"];
  const events = Array.from({ length: count }, (_, at) => slide(at + 1, verbs[(at >> 3) % 6] ?? "", `s${at % 24}`));
  const after = states(events);
  const cursor = () => service.endpoints()[0]?.cursor ?? 0;
  const deliver = () => service.deliver(events.slice(cursor(), cursor() + AT_ONCE));
  const found = () => {
    const { position, records } = readMirror(databaseFile());
    return { position, records, expected: after[position], cursor: cursor() };
  };
  for (const kill of kills) {
    const child = await start();
    for (let nth = 0; nth < kill.answered; nth++) yield { answer: await deliver(), ...found() };
    const cut = deliver();
    if ("afterMs" in kill) await sleep(kill.afterMs);
    else
      for (let position = 0; position < cursor() + kill.onDisk; await sleep(0)) {
        const now = found();
        yield { answer: undefined, ...now };
        position = now.position;
      }
    await end(child, "SIGKILL");
    await cut;
    yield { answer: undefined, ...found() };
  }
  await start();
  while (cursor() < events.length) yield { answer: await deliver(), ...found() };
}

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
