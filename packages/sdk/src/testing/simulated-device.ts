import { mayTalk } from "../core/auth.ts";
import { nextBulk } from "../core/bulk.ts";
import { nextDueAt } from "../core/connection.ts";
import { planFor } from "../core/decide.ts";
import type { Effect } from "../core/effects.ts";
import type { Decision, Happening } from "../core/events.ts";
import type { Place } from "../core/mutation.ts";
import { shownRow } from "../core/overlay.ts";
import { inOrder } from "../core/queue.ts";
import { conflictsOf, parkedOf } from "../core/select.ts";
import { type ClientState, initialState } from "../core/state.ts";
import { step } from "../core/step.ts";
import type { Claim } from "../protocol/claim.ts";
import type { JsonObject } from "../protocol/json.ts";
import type { ModelSchema } from "../protocol/model-schema.ts";
import { MemoryDisk } from "../storage/memory.ts";
import type { ModelServer } from "./model-server.ts";

type Send = Extract<Effect, { do: "send" }>;
type DiskEffect = Extract<
  Effect,
  { do: "persist" | "keep" | "forget" | "keepRows" | "keepSnapshot" | "keepPage" | "takeLead" | "stand" }
>;

/** The core of one client with its disk and its lines, each of which moves only when told: a world without time. */
export class Device {
  readonly #name: string;
  readonly #server: ModelServer;
  readonly #schema: ModelSchema;
  readonly #disk = new MemoryDisk();
  #state: ClientState;
  #now = Date.UTC(2030, 0, 1);
  #made = 0;

  /** Asked for, not yet done; done in this order. */
  #toDisk: DiskEffect[] = [];
  /** On the way up; and what was given up by the client but may still arrive. */
  #up: Send | undefined;
  #answer: { request: number; names: readonly string[]; body: unknown } | undefined;
  readonly #late: string[] = [];
  #reads: ({ from: string | null } | { after: number })[] = [];
  /** The stream: closed, opening, or a place in the log from which frames come. */
  #stream: "closed" | "opening" | { at: number; logId: string } = "closed";

  /** The last value this device wrote to its own record, and what it showed since: it must never go back. */
  #counter = 0;
  #shownCounter = 0;
  /** Claims that it was given, by record; they may have ended without its knowledge. */
  readonly #claims = new Map<string, string>();
  /** How many of its writes a claim stood against. */
  claimConflicts = 0;
  readonly #onDisk = new Set<string>();
  readonly #ended = new Set<string>();

  constructor(name: string, server: ModelServer, schema: ModelSchema) {
    this.#name = name;
    this.#server = server;
    this.#schema = schema;
    this.#state = this.#fresh();
    this.#wake();
  }

  /** One thing happens, of those that can. */
  act(kind: number, dice: number): void {
    if (kind < 22) this.#write(dice);
    else if (kind < 38) this.#doDisk();
    else if (kind < 50) this.#serverHears();
    else if (kind < 60) this.#answerArrives();
    else if (kind < 64) this.#loseRequest(dice);
    else if (kind < 70) this.#serverReads(dice % 5 !== 0);
    else if (kind < 84) this.#streamMoves(dice);
    else if (kind < 87) this.#cut();
    else if (kind < 90) this.#lateArrives(dice);
    else if (kind < 92) this.#die();
    else if (kind < 96) this.#decide(dice);
    else if (kind === 96) this.#dispatch(dice % 2 ? { type: "woke" } : { type: "due", at: 0 }, 20_000);
    else if (kind === 97) this.#claim(dice);
    else this.#pauseOrNot(dice);
  }

  /** From here on nothing is lost any more, and nobody claims anything. */
  heal(): void {
    for (const id of this.#claims.values()) this.#server.claims.end(id, "expired");
    if (this.#state.paused) this.#dispatch({ type: "resumed" });
  }

  letThrough(): void {
    for (let i = 0; i < 400; i++) {
      while (this.#toDisk.length > 0) this.#doDisk();
      this.#decide(i);
      while (this.#late.length > 0) this.#lateArrives(0);
      this.#serverHears();
      this.#answerArrives();
      this.#serverReads(true);
      this.#streamMoves(0);
      this.#dispatch({ type: "due", at: 0 }, 70_000);
      if (i > 20 && this.#isQuiet()) return;
    }
  }

  rows(): Record<string, JsonObject> {
    const tables = Object.entries(this.#state.rows.tables);
    return Object.fromEntries(
      tables.flatMap(([table, rows]) => [...rows.entries()].map(([id, row]) => [`${table}/${id}`, row.data])),
    );
  }

  shown(): Record<string, JsonObject> {
    const keys = new Set(Object.keys(this.rows()));
    for (const [table, rows] of Object.entries(this.#state.overlay))
      for (const [id] of rows.entries()) keys.add(`${table}/${id}`);
    const shown = [...keys].map((key) => [
      key,
      shownRow(this.#state, { model: "slide", id: key.slice("slide/".length) })?.data,
    ]);
    return Object.fromEntries(shown.filter(([, data]) => data !== undefined));
  }

  unsettled(): readonly string[] {
    return [...inOrder(this.#state.queue)].map((m) => `${m.clientTxId} ${m.stage.phase}`);
  }

  /** What would be sent again after a reload. */
  leftOnDisk(): readonly string[] {
    return this.#disk.queue().map((m) => m.clientTxId);
  }

  /** Every write that was ever on disk has ended: with a receipt of the server, or by a decision. */
  checkNothingLost(): void {
    for (const name of this.#onDisk)
      if (!this.#ended.has(name) && this.#server.receiptOf(this.#name, name)?.status !== "confirmed")
        throw new Error(`${this.#name} lost ${name}`);
  }

  #fresh(): ClientState {
    return initialState({ schema: this.#schema, paused: false, sendAtMost: 4 });
  }

  #wake(): void {
    this.#dispatch({ type: "restored", ...this.#disk.read(`client_${this.#name}`) });
    this.#dispatch({ type: "leads" });
  }

  /** The process is gone: what was not on disk is gone with it, what was on its way may still arrive. */
  #die(): void {
    if (this.#up) this.#late.push(this.#up.body);
    this.#up = undefined;
    this.#answer = undefined;
    this.#toDisk = [];
    this.#reads = [];
    this.#stream = "closed";
    this.#state = this.#fresh();
    // What was shown and not yet on disk may be lost; what is on disk is what counts from here.
    this.#shownCounter = 0;
    this.#wake();
    this.#shownCounter = this.#counterShown();
  }

  #dispatch(happening: Happening, afterMs = 1): void {
    this.#now += afterMs;
    const [state, effects] = step(this.#state, { ...happening, now: this.#now, roll: 0.5 });
    this.#state = state;
    for (const effect of effects) this.#hear(effect);
    this.#checkLive();
    this.#checkNoFlicker();
  }

  #hear(effect: Effect): void {
    switch (effect.do) {
      case "persist":
      case "keep":
      case "forget":
      case "keepRows":
      case "keepSnapshot":
      case "keepPage":
      case "takeLead":
      case "stand":
        this.#toDisk.push(effect);
        return;
      case "send":
        if (this.#up || this.#answer) throw new Error("Two requests are under way at once.");
        for (const name of effect.names)
          if (!this.#onDisk.has(name)) throw new Error(`${name} was sent before it was on disk.`);
        this.#up = effect;
        return;
      case "readSnapshot":
        this.#reads.push({ from: effect.cursor });
        return;
      case "readLog":
        this.#reads.push({ after: effect.after });
        return;
      case "openStream":
        this.#stream = "opening";
        return;
      case "closeStream":
        this.#stream = "closed";
        return;
      case "sayHello":
        this.#stream = { at: effect.since, logId: effect.logId };
        return;
      case "abort":
        this.#loseRequest(1);
        return;
      case "tell":
        if (effect.news.kind === "failed" && effect.news.failure.code === "discarded")
          this.#ended.add(effect.clientTxId);
        if (effect.news.kind === "renamed") this.#ended.add(effect.clientTxId);
        return;
      case "askToken":
      case "readRows":
      case "post":
        return;
    }
  }

  #write(dice: number): void {
    const clientTxId = `${this.#name}-${++this.#made}`;
    const mutate = (action: "create" | "update" | "delete" | "archive", id: string, data?: JsonObject) =>
      this.#dispatch({
        type: "mutated",
        clientTxId,
        reads: [],
        operations: [{ action, model: "slide", id, data, onStale: "notify", ...this.#under(action, id, dice) }],
      });
    const shared = `shared${dice % 3}`;
    const own = `own-${this.#name}`;
    switch (dice % 10) {
      case 0:
        return mutate("create", shared, { title: `by ${clientTxId}` });
      case 1:
      case 2:
        return mutate("update", shared, { title: clientTxId });
      case 3:
        return mutate("update", shared, { order: dice });
      case 4:
        return mutate("update", shared, { title: clientTxId, notes: `${dice}` });
      case 5:
        return mutate(dice % 20 === 5 ? "delete" : "archive", shared);
      default: {
        this.#counter += 1;
        const there = shownRow(this.#state, { model: "slide", id: own });
        return mutate(there ? "update" : "create", own, { order: this.#counter });
      }
    }
  }

  #under(action: string, id: string, dice: number): { claim?: string } {
    const claim = this.#claims.get(id);
    return claim !== undefined && action !== "create" && dice % 7 > 0 ? { claim } : {};
  }

  /** Takes a record, or loses one that it took; it writes on as if nothing had happened. */
  #claim(dice: number): void {
    const id = `shared${dice % 3}`;
    const own = this.#claims.get(id);
    if (own !== undefined && dice % 2) return this.#server.claims.end(own, "expired");
    const claim = this.#server.claims.acquire(this.#name, "slide", id).body as Claim;
    if (claim.status === "active") this.#claims.set(id, claim.id);
  }

  #doDisk(): void {
    const effect = this.#toDisk.shift();
    switch (effect?.do) {
      case "persist": {
        const places = this.#disk.enqueue(effect.mutations);
        for (const { clientTxId } of places) this.#onDisk.add(clientTxId);
        return this.#dispatch({ type: "persisted", places });
      }
      case "keep":
        return void this.#disk.keep(effect.mutations, effect.generation);
      case "forget":
        return void this.#disk.forget(effect.places, effect.generation);
      case "keepRows":
        if (this.#disk.keepRows(effect, effect.generation) === "gap") this.#keepAll(effect);
        return;
      case "keepSnapshot":
        return this.#keepAll(effect);
      case "keepPage":
        if (this.#disk.keepPage(effect.page, effect.generation) === "gap") this.#dispatch({ type: "pageLost" });
        return;
      case "takeLead":
        return this.#dispatch({ type: "tookLead", ...this.#disk.lead() });
      case "stand":
        return effect.wanted ? this.#dispatch({ type: "leads" }) : undefined;
      case undefined:
        return;
    }
  }

  #keepAll({ generation, settled }: { generation: number; settled: readonly Place[] }): void {
    const { tables, logId = "", position: stamp = 0 } = this.#state.rows;
    const changes = Object.entries(tables).flatMap(([model, rows]) =>
      [...rows.entries()].map(([id, value]) => ({ record: { model, id }, value })),
    );
    this.#disk.keepPage({ logId, stamp, first: true, changes, cursor: null }, generation);
    this.#disk.forget(settled, generation);
  }

  #serverHears(): void {
    const sent = this.#up;
    if (!sent || this.#answer) return;
    this.#up = undefined;
    this.#answer = { request: sent.request, names: sent.names, body: this.#server.bulk(sent.body, this.#name) };
  }

  #answerArrives(): void {
    const answer = this.#answer;
    if (!answer) return;
    this.#answer = undefined;
    const { request, names, body } = answer;
    this.#dispatch({ type: "answered", request, names, reply: { kind: "answer", status: 200, body } });
  }

  /** Request or receipt is lost; a request may come through later, when nobody expects it any more. */
  #loseRequest(dice: number): void {
    const lost = this.#up ?? this.#answer;
    if (this.#up && dice % 2) this.#late.push(this.#up.body);
    this.#up = undefined;
    this.#answer = undefined;
    if (!lost) return;
    const reply = { kind: "silence", timedOut: dice % 3 === 0, reason: "lost" } as const;
    this.#dispatch({ type: "answered", request: lost.request, names: lost.names, reply });
  }

  #lateArrives(dice: number): void {
    const [body] = this.#late.splice(dice % Math.max(1, this.#late.length), 1);
    if (body) this.#server.bulk(body, this.#name);
  }

  #serverReads(comesBack: boolean): void {
    const read = this.#reads.shift();
    if (!read) return;
    if (!comesBack)
      return this.#dispatch({ type: "readFailed", reply: { kind: "silence", timedOut: false, reason: "lost" } });
    if ("from" in read) return this.#dispatch({ type: "snapshotRead", ...this.#server.snapshotPage(read.from, 2) });
    const { logId, stamp, from, to, entries } = this.#server.readLog(Math.min(read.after, this.#server.head), 3);
    this.#dispatch({ type: "logRead", logId, stamp, from, to, entries });
  }

  #streamMoves(dice: number): void {
    if (this.#stream === "closed") return;
    if (this.#stream === "opening") return this.#dispatch({ type: "streamOpened" });
    const { at, logId } = this.#stream;
    if (logId !== this.#server.logId || at > this.#server.head) {
      this.#stream = "closed";
      return this.#dispatch({ type: "resyncAsked", reason: "other_log" });
    }
    if (this.#state.stream.phase === "opening") return this.#dispatch({ type: "welcomed", ...this.#greeting() });
    // Usually the next few entries; now and then some again, or some left out.
    const odd = dice % 10;
    const from = odd === 1 ? Math.max(0, at - 2) : odd === 2 ? Math.min(at + 1, this.#server.head) : at;
    const { to, entries } = this.#server.readLog(from, 1 + (dice % 3));
    if (to === from) return;
    this.#stream = { at: Math.max(at, to), logId };
    this.#dispatch({ type: "entriesCame", from, to, entries });
  }

  #greeting() {
    return { logId: this.#server.logId, stamp: this.#server.head, participant: `user:${this.#name}`, session: "s" };
  }

  #cut(): void {
    if (this.#stream === "closed") return;
    this.#stream = "closed";
    this.#dispatch({ type: "streamClosed", code: 1006, reason: "cut" });
  }

  #pauseOrNot(dice: number): void {
    this.#dispatch({ type: this.#state.paused || dice % 2 ? "resumed" : "paused" });
  }

  #decide(dice: number): void {
    const newTxId = `${this.#name}-${++this.#made}`;
    const [conflict] = conflictsOf(this.#state);
    const [parked] = parkedOf(this.#state);
    if (conflict) {
      if (conflict.claim) this.claimConflicts += 1;
      this.#ended.add(conflict.clientTxId);
      const { clientTxId, model, id, fields, observedSyncId: asOf } = conflict;
      const patch = Object.fromEntries(fields.map((f) => [f, f === "order" ? dice : `merged ${dice}`]));
      const decisions: Decision[] = [
        { kind: "keep-mine", asOf },
        { kind: "take-theirs", asOf },
        { kind: "merge", asOf, model, id, patch },
      ];
      const decision = decisions[dice % (fields.length > 0 ? 3 : 2)];
      if (decision) this.#dispatch({ type: "decided", plan: planFor(this.#state, clientTxId, decision), newTxId });
    } else if (parked) {
      this.#ended.add(parked.clientTxId);
      const kind = dice % 4 === 0 ? "retry" : "discard";
      const plan = planFor(this.#state, parked.clientTxId, { kind });
      this.#dispatch({ type: "decided", plan, newTxId });
    }
  }

  #isQuiet(): boolean {
    const idle = !this.#up && !this.#answer && this.#reads.length === 0 && this.#toDisk.length === 0;
    return (
      idle &&
      this.#state.queue.order.length === 0 &&
      this.#state.rows.position === this.#server.head &&
      this.#state.reading.resync === "no"
    );
  }

  /** The queue is not empty, and nothing forbids sending: then a request or an alarm exists, or it would lie there for ever. */
  #checkLive(): void {
    const { state } = { state: this.#state };
    const may =
      !state.paused &&
      state.network &&
      mayTalk(state.auth) &&
      state.lead === "yes" &&
      state.reading.resync !== "suspect";
    if (!may || nextBulk(state.queue, 1).length === 0) return;
    // Whether the log is still the same is asked before anything is sent.
    const reads = state.reading.under !== "nothing" && this.#reads.length > 0;
    if (state.sending.names === undefined && nextDueAt(state, this.#now) === undefined && !reads)
      throw new Error("The queue lies still: no request, no alarm.");
    if (state.sending.names !== undefined && !this.#up && !this.#answer)
      throw new Error("It waits for an answer to nothing.");
  }

  #counterShown(): number {
    return Number(shownRow(this.#state, { model: "slide", id: `own-${this.#name}` })?.data.order ?? 0);
  }

  #checkNoFlicker(): void {
    // A restored backup is a reason to show older values: they are what is true again.
    if (this.#server.wasRestored) return;
    const shown = this.#counterShown();
    if (shown < this.#shownCounter) throw new Error(`${this.#name} showed ${this.#shownCounter}, then ${shown}.`);
    this.#shownCounter = shown;
  }
}
