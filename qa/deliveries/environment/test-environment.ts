import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { LogEntry } from "@holdfast/sdk/protocol";
import { newMasterKey, type WebhookOptions } from "@holdfast/server";
import { attachReference } from "../../support/attached-tables.ts";
import type { Evidence } from "../judge/evidence.ts";
import { type Receiver, startReceiver } from "../receiver/receiver.ts";
import { openRecords, type Records } from "../receiver/records.ts";
import { type Senders, startSenders } from "../servers/senders.ts";
import type { SenderPlan } from "../servers/server-process.ts";
import { evidenceOf } from "./collect.ts";
import { fill } from "./fill.ts";
import { createOwner, type Owned, type Owner } from "./owner.ts";
import { createRequester, good, type SendRequest } from "./request.ts";

const SCHEMA = new URL("../../../packages/server/reference-schema.json", import.meta.url);

/** Shortened times: a day takes seconds. */
export const SHORT: Omit<WebhookOptions, "allowPrivate"> = {
  schedule: [0, 200, 300, 400, 500, 600, 700, 800],
  rotationMs: 6_000,
  connectMs: 500,
  requestMs: 1_000,
  leaseMs: 3_000,
};

export interface Options {
  readonly databaseUrl: string;
  readonly seed: number;
  /** How many servers deliver; default 1. */
  readonly servers?: number;
  readonly times?: Partial<WebhookOptions>;
  /** The shortest time between two kills by the receiver. */
  readonly deathsEveryMs?: number;
  /** Another `server.ts` than that of this repository. */
  readonly sources?: string | undefined;
  /** The rows of all models are in attached tables. */
  readonly attached?: boolean;
  /** How late an attempt may be on this machine. */
  readonly lateMs?: number;
}

/**
 *   writers ──► servers ──► Postgres
 *                  │
 *                  └─ signed requests ──► receiver, a process of its own ──► what it got, in files
 */
export interface TestEnvironment {
  readonly request: SendRequest;
  readonly owner: Owner;
  readonly receiver: Receiver;
  readonly senders: Senders;
  readonly records: Records;
  readonly times: Omit<WebhookOptions, "allowPrivate">;
  register(hook: string, models?: readonly string[], from?: number): Promise<Owned>;
  commit(operations: readonly object[]): Promise<void>;
  /** Creates `count` slides, a hundred per commit. Returns the last position. */
  fill(count: number, prefix?: string): Promise<number>;
  /** Resolves when enabled endpoints have no pending events; false: on a timeout. */
  settle(patienceMs?: number): Promise<boolean>;
  /** Resolves when the condition holds; false: on a timeout. */
  until(isSo: () => boolean | Promise<boolean>, patienceMs?: number): Promise<boolean>;
  /** Waits. */
  pass(ms: number): Promise<void>;
  readLog(): Promise<LogEntry[]>;
  /** The pushed models. */
  schema(): Promise<Readonly<Record<string, object>>>;
  /** All evidence for the judge. `earlier`: the log as read before a schema push. */
  evidence(earlier?: readonly (readonly LogEntry[])[]): Promise<Evidence>;
  close(): Promise<void>;
}

const RELOAD_MS = 250;
const POLL_MS = 50;
const PATIENCE_MS = 60_000;

export async function openTestEnvironment(options: Options): Promise<TestEnvironment> {
  const { servers = 1, databaseUrl, sources, seed, lateMs = 2_000, deathsEveryMs = 0 } = options;
  const adminToken = `admin_${randomBytes(20).toString("hex")}`;
  const times = { ...SHORT, ...options.times };
  const plan: SenderPlan = {
    ...{ sources, databaseUrl, adminToken },
    masterKeys: [newMasterKey()],
    webhooks: { ...times, allowPrivate: true },
  };
  const closing: (() => unknown)[] = [];
  const close = async () => {
    for (const end of closing.splice(0).reverse()) await end();
  };

  try {
    const folder = mkdtempSync(join(tmpdir(), "holdfast-deliveries-"));
    closing.push(() => rmSync(folder, { recursive: true, force: true }));
    let started: Senders | undefined;
    const onKilled = (at: number) => void started?.wereKilled(at);
    const receiver = await startReceiver({ folder, seed, deathsEveryMs, onKilled });
    closing.push(() => receiver.close());
    const senders = await startSenders(servers, folder, plan, (pids) => receiver.senders(pids));
    started = senders;
    closing.push(() => senders.close());
    const records = openRecords(folder);
    const request = createRequester(senders.urls, await newKey(senders, adminToken, options));
    const owner = createOwner(request);
    const secretsOf = (hook: string) => {
      const endpoint = owner.owned.find((one) => one.hook === hook);
      return endpoint?.rolling ? undefined : endpoint?.secrets;
    };
    const reload = () => {
      records.read();
      records.verify(secretsOf);
    };
    const reloading = setInterval(reload, RELOAD_MS);
    closing.push(() => clearInterval(reloading));
    return environmentOf({ request, owner, receiver, senders, records, times, lateMs, reload, close });
  } catch (error) {
    await close();
    throw error;
  }
}

interface Parts
  extends Pick<TestEnvironment, "request" | "owner" | "receiver" | "senders" | "records" | "times" | "close"> {
  readonly lateMs: number;
  reload(): void;
}

function environmentOf(parts: Parts): TestEnvironment {
  const { request, owner, receiver, reload } = parts;
  let committed = 0;

  async function until(isSo: () => boolean | Promise<boolean>, patienceMs = PATIENCE_MS): Promise<boolean> {
    const end = performance.now() + patienceMs;
    for (;;) {
      reload();
      if (await isSo()) return true;
      if (performance.now() > end) return false;
      await pause(POLL_MS);
    }
  }

  async function readLog(): Promise<LogEntry[]> {
    const entries: LogEntry[] = [];
    for (let after = "0"; ; ) {
      const page = good(await request("GET", `/v1/log?after=${after}&limit=1000`));
      entries.push(...(page.data as LogEntry[]));
      if (!page.has_more) return entries;
      after = String(page.next_cursor);
    }
  }

  async function commit(operations: readonly object[]): Promise<void> {
    good(await request("POST", "/v1/commits", { clientTxId: `commit-${++committed}`, operations }));
  }

  return {
    ...parts,
    register: (hook, models, from) => owner.register(hook, receiver.addressOf(hook), models, from),
    commit,
    fill: (count, prefix = "filled") => fill(request, count, prefix),
    settle: (patienceMs) =>
      until(
        async () => (await owner.list()).every(({ status, lag }) => status === "disabled" || lag === 0),
        patienceMs,
      ),
    until,
    pass: (ms) => pause(ms),
    readLog,
    schema: async () => good(await request("GET", "/v1/schema")).models as Readonly<Record<string, object>>,
    async evidence(earlier = []) {
      const views = await owner.list();
      const log = await readLog();
      reload();
      return evidenceOf({ ...parts, views, log, earlier });
    },
  };
}

/** Creates an organization with the reference models, and returns its key. */
async function newKey(senders: Senders, adminToken: string, { databaseUrl, attached }: Options): Promise<string> {
  const request = createRequester(senders.urls, adminToken);
  const { id } = good(await request("POST", "/v1/organizations", { name: "deliveries" }));
  const { token } = good(await request("POST", "/v1/secret_keys", { organization: id, livemode: true }));
  if (attached) await attachReference(databaseUrl, String(id));
  else good(await request("POST", "/v1/schema", JSON.parse(readFileSync(SCHEMA, "utf8")) as object, String(token)));
  return String(token);
}
