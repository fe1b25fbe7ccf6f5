import { setTimeout as pause } from "node:timers/promises";
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
  /** Creates `count` slides, a hundred per commit. */
  fill(count: number, prefix: string): Promise<void>;
  /** Resolves when enabled endpoints have no pending events; false: on a timeout. */
  settle(patienceMs?: number): Promise<boolean>;
  /** Resolves when the condition holds; false: on a timeout. */
  until(isSo: () => boolean | Promise<boolean>, patienceMs?: number): Promise<boolean>;
  /** The pushed models. */
  schema(): Promise<Readonly<Record<string, object>>>;
  /** All evidence for the judge. */
  evidence(): Promise<Evidence>;
}

const RELOAD_MS = 250;
const POLL_MS = 50;
const PATIENCE_MS = 60_000;

export async function openTestEnvironment(options: Options): Promise<TestEnvironment> {
  const { servers: count = 1, sources } = options;
  const times = { ...SHORT, ...options.times };
  const plan = senderPlan({ sources, webhooks: { ...times, allowPrivate: true } });
  const environment = await openFaultEnvironment({
    name: "deliveries",
    servers: Array.from({ length: count }, () => plan),
    postgres: postgresOf(options.databaseUrl),
  });
  try {
    return { ...(await openIn(environment, options, times)), [Symbol.asyncDispose]: environment.close };
  } catch (error) {
    await environment.close();
    throw error;
  }
}

async function openIn(
  environment: FaultEnvironment,
  { seed, attached, deathsEveryMs = 0 }: Options,
  times: TestEnvironment["times"],
): Promise<Omit<TestEnvironment, typeof Symbol.asyncDispose>> {
  const { folder, databaseUrl, closing } = environment;
  let started: Senders | undefined;
  const onKilled = (at: number) => void started?.wereKilled(at);
  const receiver = await startReceiver({ folder, seed, deathsEveryMs, onKilled });
  closing(() => receiver.close());
  const senders = await sendersOf(environment, (pids) => receiver.senders(pids));
  started = senders;
  closing(() => senders.rest());
  const records = openRecords(folder);
  const { organization, key } = await environment.newTenant(attached ? undefined : referenceSchema);
  if (attached) await attachReference(databaseUrl, organization);
  const request = createRequester(senders.urls, key);
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

  const parts = { databaseUrl, request, owner, receiver, senders, records, times };
  return {
    ...parts,
    register: (hook, models, from) => owner.register(hook, receiver.addressOf(hook), models, from),
    commit: async (operations) =>
      void good(await request("POST", "/v1/commits", { clientTxId: `commit-${++committed}`, operations })),
    fill: (count, prefix) => fill(request, count, prefix),
    settle: (patienceMs) =>
      until(
        async () => (await owner.list()).every(({ status, lag }) => status === "disabled" || lag === 0),
        patienceMs,
      ),
    until,
    schema: async () => good(await request("GET", "/v1/schema")).models as Readonly<Record<string, object>>,
    async evidence() {
      const views = await owner.list();
      const log = await readLog(request);
      reload();
      return evidenceOf({ ...parts, views, log });
    },
  };
}
