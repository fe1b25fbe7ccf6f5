import { setTimeout as pause } from "node:timers/promises";
import type { LogEntry } from "@holdfast/sdk/protocol";
import type { WebhookOptions } from "@holdfast/server";
import { referenceSchema } from "../../../packages/server/src/testing/reference-schema.ts";
import { attachReference } from "../../support/attached-tables.ts";
import { type FaultEnvironment, openFaultEnvironment, postgresOf } from "../../support/fault-environment.ts";
import { createRequester, good, readLog, type SendRequest } from "../../support/requester.ts";
import type { Evidence } from "../judge/evidence.ts";
import { type Receiver, startReceiver } from "../receiver/receiver.ts";
import { openRecords, type Records } from "../receiver/records.ts";
import { type Senders, senderPlan, sendersOf } from "../servers/senders.ts";
import { evidenceOf } from "./collect.ts";
import { fill } from "./fill.ts";
import { createOwner, type Owned, type Owner } from "./owner.ts";

/** Shortened times: a day takes seconds. */
export const SHORT: Omit<WebhookOptions, "allowPrivate"> = {
  schedule: [0, 200, 300, 400, 500, 600, 700, 800],
  rotationMs: 6_000,
  connectMs: 500,
  requestMs: 1_000,
  leaseMs: 3_000,
};

export interface Options {
  /** Undefined: on a Postgres of its own, which can be killed. */
  readonly databaseUrl?: string;
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
export interface TestEnvironment extends AsyncDisposable {
  readonly databaseUrl: string;
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
  /** The pushed models. */
  schema(): Promise<Readonly<Record<string, object>>>;
  /** All evidence for the judge. `earlier`: the log as read before a schema push. */
  evidence(earlier?: readonly (readonly LogEntry[])[]): Promise<Evidence>;
}

const RELOAD_MS = 250;
const POLL_MS = 50;
const PATIENCE_MS = 60_000;

export async function openTestEnvironment(options: Options): Promise<TestEnvironment> {
  const { servers: count = 1, sources, seed, lateMs = 2_000, deathsEveryMs = 0 } = options;
  const times = { ...SHORT, ...options.times };
  const plan = senderPlan({ sources, webhooks: { ...times, allowPrivate: true } });
  const environment = await openFaultEnvironment({
    name: "deliveries",
    servers: Array.from({ length: count }, () => plan),
    postgres: postgresOf(options.databaseUrl),
  });
  const { folder, databaseUrl, closing, close } = environment;
  try {
    let started: Senders | undefined;
    const onKilled = (at: number) => void started?.wereKilled(at);
    const receiver = await startReceiver({ folder, seed, deathsEveryMs, onKilled });
    closing(() => receiver.close());
    const senders = await sendersOf(environment, (pids) => receiver.senders(pids));
    started = senders;
    closing(() => senders.rest());
    const records = openRecords(folder);
    const request = createRequester(senders.urls, await newKey(environment, options.attached));
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
    closing(() => clearInterval(reloading));
    return environmentOf({
      databaseUrl,
      request,
      owner,
      receiver,
      senders,
      records,
      times,
      lateMs,
      reload,
      [Symbol.asyncDispose]: close,
    });
  } catch (error) {
    await close();
    throw error;
  }
}

interface Parts
  extends Pick<
    TestEnvironment,
    "databaseUrl" | "request" | "owner" | "receiver" | "senders" | "records" | "times" | typeof Symbol.asyncDispose
  > {
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
    schema: async () => good(await request("GET", "/v1/schema")).models as Readonly<Record<string, object>>,
    async evidence(earlier = []) {
      const views = await owner.list();
      const log = await readLog(request);
      reload();
      return evidenceOf({ ...parts, views, log, earlier });
    },
  };
}

/** Creates an organization with the reference models, and returns its key. */
async function newKey({ operator, databaseUrl }: FaultEnvironment, attached = false): Promise<string> {
  const { id } = good(await operator("POST", "/v1/organizations", { name: "deliveries" }));
  const { token } = good(await operator("POST", "/v1/secret_keys", { organization: id, livemode: true }));
  if (attached) await attachReference(databaseUrl, String(id));
  else good(await operator("POST", "/v1/schema", referenceSchema, String(token)));
  return String(token);
}
