import { setTimeout as sleep } from "node:timers/promises";
import { defineSchema, type SyncClient } from "@holdfast/sdk/node";
import {
  alone,
  createClientOn,
  MemoryDisk,
  memoryStorage,
  noSignals,
  type Storage,
  StorageFailure,
} from "@holdfast/sdk/testing";
import { kyExchange } from "../../packages/sdk/src/transport/ky-exchange.ts";
import { type FaultEnvironment, openFaultEnvironment, postgresOf } from "../support/fault-environment.ts";
import type { Found } from "../support/report.ts";
import { createRequester, good, readLog, type SendRequest } from "../support/requester.ts";
import { SeededRandom } from "../support/seeded-random.ts";
import { BadLine } from "./bad-connection.ts";

const schema = defineSchema({
  models: {
    slide: {
      fields: {
        title: { type: "string" },
        order: { type: "number", default: 0 },
        notes: { type: "string" },
        count: { type: "integer", default: 0 },
      },
    },
  },
});
type Schema = typeof schema;

/** Waits shrink by this: a run of minutes takes seconds, and nothing else changes. */
const HASTE = 40;
const SHARED = ["shared-0", "shared-1", "shared-2"];

/** Without a database, it has a Postgres of its own. Each run has a tenant of its own. */
export const openEnvironment = (databaseUrl?: string): Promise<FaultEnvironment> =>
  openFaultEnvironment({ name: "converge", servers: [{}], postgres: postgresOf(databaseUrl) });

/** One run for each seed, one after the other. A run that fails is a violation. */
export async function convergeMany(
  seeds: readonly number[],
  steps: number,
  print: (line: string) => void,
): Promise<Found> {
  await using environment = await openEnvironment();
  print(`${seeds.length} runs of ${steps} steps …`);
  const violations: string[] = [];
  const ended: Ended[] = [];
  const sum = (of: (one: Ended) => number) => ended.reduce((all, one) => all + of(one), 0);
  for (const [i, seed] of seeds.entries()) {
    try {
      ended.push(await convergeFrom(environment, seed, steps));
    } catch (error) {
      violations.push(`--seed ${seed}: ${error instanceof Error ? error.message : error}`);
      print(`seed ${seed} failed`);
    }
    if (i % 20 === 19) print(`${i + 1} runs, ${sum(({ kills }) => kills)} deaths, ${violations.length} failed`);
  }
  return {
    lines: [
      ["runs", seeds.length],
      ["log entries", sum(({ written }) => written)],
      ["conflicts answered", sum(({ conflicts }) => conflicts)],
      ["deaths", sum(({ kills }) => kills)],
    ],
    violations,
  };
}

export interface Ended {
  readonly written: number;
  readonly conflicts: number;
  readonly kills: number;
  /** Bulks that were sent on streams. */
  readonly calls: number;
}

/** One run: devices that write at random over bad lines and die now and then; then peace; then everything is compared. */
export async function convergeFrom(
  { servers, newTenant }: FaultEnvironment,
  seed: number,
  steps = 120,
): Promise<Ended> {
  const chance = new SeededRandom(seed);
  const url = String(servers[0]?.url);
  const { key: token } = await newTenant(schema);
  const request = createRequester(() => [url], token);
  const devices = [0, 1, 2].map((n) => new Device(`d${n}`, url, token, chance));
  await Promise.all(devices.map((device) => device.start()));
  try {
    for (let i = 0; i < steps; i++) {
      await chance.oneOf(devices).act();
      if (chance.percent(60)) await sleep(chance.below(6));
    }
    for (const device of devices) await device.heal();
    const head = await atPeace(devices, request);
    await compare(devices, request);
    const conflicts = devices.reduce((sum, device) => sum + device.answered, 0);
    const kills = devices.reduce((sum, device) => sum + device.kills, 0);
    const calls = devices.reduce((sum, device) => sum + device.calls, 0);
    return { written: head, conflicts, kills, calls };
  } finally {
    // Also after a failure: an open client would keep the process alive.
    await Promise.all(devices.map((device) => device.client.close()));
  }
}

class Device {
  readonly name: string;
  readonly #url: string;
  readonly #token: string;
  readonly #chance: SeededRandom;
  /** Outlives the device. Every storage keeps one contract, so one that is quick will do. */
  readonly #disk = new MemoryDisk();
  #line: BadLine;
  #client: SyncClient<Schema> | undefined;
  answered = 0;
  kills = 0;
  #calls = 0;
  /** The last number written to this device's own record, and the last one seen there. */
  #count = 0;
  #seen = 0;
  /** Names of writes that were reported to be on disk. */
  readonly onDisk = new Set<string>();
  /** Names that the server confirmed, and those that a person gave up, or sent again under another name. */
  readonly confirmed = new Set<string>();
  readonly decided = new Set<string>();
  flicker: string | undefined;

  constructor(name: string, url: string, token: string, chance: SeededRandom) {
    this.name = name;
    this.#url = url;
    this.#token = token;
    this.#chance = chance;
    this.#line = new BadLine(chance, 0, this.confirmed);
  }

  get client(): SyncClient<Schema> {
    if (!this.#client) throw new Error(`${this.name} was not started.`);
    return this.#client;
  }

  async start(): Promise<void> {
    const line = new BadLine(this.#chance, 15, this.confirmed);
    this.#calls += this.#line.calls;
    this.#line = line;
    const began = Date.now();
    this.#client = createClientOn(
      {
        clock: {
          now: () => began + (Date.now() - began) * HASTE,
          monotonic: () => performance.now() * HASTE,
          wait: (ms, then) => {
            const timer = setTimeout(then, ms / HASTE);
            return () => clearTimeout(timer);
          },
        },
        random: {
          roll: () => this.#chance.roll(),
          id: () =>
            `${this.name}-${this.#chance.below(2 ** 31).toString(36)}-${this.#chance.below(2 ** 31).toString(36)}`,
        },
        storage: async () => mortal(memoryStorage(this.#disk), line),
        tabs: alone,
        signals: noSignals,
        // With a `fetch` of its own the client sends nothing on its stream.
        ...(this.#chance.percent(50) ? { fetch: line.fetch } : { exchange: kyExchange(line.fetch) }),
        WebSocket: line.WebSocket,
      },
      // Timeouts stay long: HASTE does not make the server faster.
      { schema, url: this.#url, getToken: () => this.#token, requestTimeoutMs: 5_000 },
    );
    this.#seen = 0;
    this.client.subscribe(() => this.#check());
    if (this.kills === 0) await this.client.ready();
  }

  /** Bulks that were sent on its streams. */
  get calls(): number {
    return this.#calls + this.#line.calls;
  }

  async act(): Promise<void> {
    const kind = this.#chance.below(100);
    if (kind < 70) this.#write();
    else if (kind < 78) this.#line.cut();
    else if (kind < 82) await this.#line.deliverLate();
    else if (kind < 85) await this.#die();
    else if (kind < 92) this.decide();
    else if (kind < 96) this.client.pause();
    else this.client.resume();
  }

  /** From here on the line is good. */
  async heal(): Promise<void> {
    this.#line.badness = 0;
    this.client.resume();
    await this.#line.deliverLate();
  }

  decide(): void {
    const [conflict] = this.client.conflicts();
    const [rejected] = this.client.attention();
    if (conflict) {
      this.answered += 1;
      this.decided.add(conflict.clientTxId);
      // Later writes may become empty when theirs is taken.
      for (const { clientTxId, phase } of this.client.pending()) if (phase === "blocked") this.decided.add(clientTxId);
      const way = this.#chance.below(conflict.fields.length > 0 ? 3 : 2);
      if (way === 0) conflict.keepMine();
      else if (way === 1) conflict.takeTheirs();
      else
        conflict.merge(
          Object.fromEntries(conflict.fields.map((f) => [f, f === "title" || f === "notes" ? "merged" : 7])),
        );
    } else if (rejected) {
      this.decided.add(rejected.clientTxId);
      rejected.discard();
    }
  }

  #write(): void {
    const slides = this.client.models.slide;
    const id = this.#chance.oneOf(SHARED);
    const text = `${this.name} ${this.#chance.below(1_000)}`;
    const kind = this.#chance.below(12);
    if (kind < 2) this.#note(slides.create({ title: text }, { id }));
    else if (kind < 4) this.#note(slides.update(id, { title: text }));
    else if (kind < 5) this.#note(slides.update(id, { order: this.#chance.below(9), notes: text }));
    else if (kind < 6) this.#note(this.#chance.percent(50) ? slides.archive(id) : slides.unarchive(id));
    else if (kind < 7) this.#note(slides.delete(id));
    else if (kind < 8)
      this.#note(
        this.client.commit([
          { action: "update", model: "slide", id, data: { title: text } },
          { action: "create", model: "slide", data: { title: text } },
        ]),
      );
    else {
      this.#count += 1;
      const own = this.#own();
      this.#note(
        slides.get(own)
          ? slides.update(own, { count: this.#count })
          : slides.create({ count: this.#count }, { id: own }),
      );
    }
  }

  #note({ clientTxId, queued }: { clientTxId: string; queued: Promise<void> }): void {
    queued.then(
      () => this.onDisk.add(clientTxId),
      () => {},
    );
  }

  /** Kills the device: nothing is finished or sent, and only its disk remains. */
  async #die(): Promise<void> {
    this.kills += 1;
    this.#line.dead = true;
    this.#line.cut();
    const dead = this.client;
    void dead.close();
    await this.start();
    await this.client.ready();
    this.#seen = this.#shown();
  }

  readonly #own = () => `own-${this.name}`;
  readonly #shown = () => this.client.models.slide.get(this.#own())?.count ?? 0;

  #check(): void {
    const shown = this.#shown();
    if (shown < this.#seen) this.flicker ??= `${this.name} showed ${this.#seen}, then ${shown}`;
    this.#seen = shown;
  }
}

/** A store that a killed device cannot reach any more. Operations that it had started may have taken effect or not. */
function mortal(storage: Storage, line: BadLine): Storage {
  const alive = (): void => {
    if (line.dead) throw new StorageFailure("The device is dead.");
  };
  const guarded =
    <A extends unknown[], R>(work: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      alive();
      const done = await work(...args);
      alive();
      return done;
    };
  return {
    open: guarded(storage.open),
    enqueue: guarded(storage.enqueue),
    keep: guarded(storage.keep),
    forget: guarded(storage.forget),
    takeLead: guarded(storage.takeLead),
    keepRows: guarded(storage.keepRows),
    keepPage: guarded(storage.keepPage),
    readQueue: guarded(storage.readQueue),
    own: guarded(storage.own),
    keepRecordBytes: guarded(storage.keepRecordBytes),
    destroy: guarded(storage.destroy),
    close: storage.close,
  };
}

/** Waits until no device has anything left to send or to decide, and all have read to the head. Returns the head. */
async function atPeace(devices: readonly Device[], request: SendRequest): Promise<number> {
  const end = Date.now() + 20_000;
  for (;;) {
    for (const device of devices) device.decide();
    await sleep(10);
    const head = Number(good(await request("GET", "/v1/log?after=0&limit=1")).stamp);
    const restless = devices.filter(({ client }) => {
      const { pending, conflicts, attention, syncId } = client.status();
      return pending + conflicts + attention > 0 || syncId < head;
    });
    if (restless.length === 0) return head;
    if (Date.now() > end)
      throw new Error(
        `No peace: ${restless.map((d) => `${d.name} ${JSON.stringify(d.client.status())} ${JSON.stringify(d.client.pending().slice(0, 3))}`).join("; ")}; head ${head}`,
      );
  }
}

async function compare(devices: readonly Device[], request: SendRequest): Promise<void> {
  const log = await readLog(request);
  const rows = new Map<string, unknown>();
  for (const { id, verb, data } of log)
    if (verb === "deleted") rows.delete(id);
    else rows.set(id, data);
  const expected = JSON.stringify([...rows].sort(([a], [b]) => (a < b ? -1 : 1)));
  const names = log.map((e) => `${e.clientTxId} ${e.id} ${e.verb}`);
  if (new Set(names).size < names.length)
    throw new Error(`A write had two effects: ${names.filter((n, i) => names.indexOf(n) !== i)}`);
  for (const device of devices) {
    if (device.flicker) throw new Error(device.flicker);
    const shown = device.client.models.slide.list({ archived: "with" }).map((row) => [row.id, row] as const);
    if (sortedKeys(shown) !== sortedKeys(JSON.parse(expected)))
      throw new Error(`${device.name} shows ${sortedKeys(shown)}, the log says ${sortedKeys(JSON.parse(expected))}`);
    const lost = [...device.onDisk].filter((name) => !device.confirmed.has(name) && !device.decided.has(name));
    if (lost.length > 0) throw new Error(`${device.name} lost ${lost}, which were on disk.`);
  }
}

const sortedKeys = (rows: unknown): string =>
  JSON.stringify(rows, (_, v: unknown) =>
    typeof v === "object" && v !== null && !Array.isArray(v)
      ? Object.fromEntries(Object.entries(v).sort(([a], [b]) => (a < b ? -1 : 1)))
      : v,
  );
