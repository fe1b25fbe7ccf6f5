import type { Pipe } from "../../connection/pipe.ts";
import type { Statement } from "../../connection/statement.ts";
import type { LiveSchema, SchemaCache } from "../../schema/flows/schema-cache.ts";
import type { LockedHead } from "../db/heads.ts";
import type { RecordName } from "../db/records.ts";
import type { ByteBounds, RoundModule, TenantState } from "../rules/tenant-state.ts";
import type { Job } from "./job.ts";
import type { RoundOutcome } from "./round-outcome.ts";
import type { PublishDrained, RoundResult } from "./round-result.ts";

/** What a module does in rounds of commits. `Found`: what it has read for one of them. */
export interface InRounds<Found = unknown> {
  readonly name: string;
  /** For one lane: what it remembers of tenants counts only there. */
  openLoad(): LoadInRounds<Found>;
  /** Reads what belongs to further records, which a judgement has found to be concerned. */
  loadMore?(pipe: Pipe, records: readonly RecordName[]): Promise<Found>;
  /** What two reads of one round have found. */
  together?(one: Found, other: Found): Found;
  /** What it knows of one tenant, and what it says of its commits. */
  at(pipe: Pipe, tenant: TenantInRound, found: Found): RoundModule | Promise<RoundModule>;
  /** The same in a round that reads nothing, because it only creates records. Absent, or undefined: it has to read. */
  emptyAt?(tenant: TenantInRound): RoundModule | undefined;
  save(tenants: readonly TenantAfter[], jobs: readonly Job[], answers: readonly RoundOutcome[]): SavedInRound;
  /** What it has changed in the head of a tenant. */
  headOf?(state: TenantState): Partial<LockedHead>;
  /** How it runs the rounds of some tenants itself (`RoundModule.runsRounds`). */
  readonly ownRounds?: OwnRounds;
}

/** Rounds of one tenant each, which a module runs in lanes of its own: what happens there may take long. */
export interface OwnRounds {
  /** How many lanes, each with its own connection. */
  readonly lanes: number;
  /** Most commits of a round. */
  readonly maxCommits: number;
  open(options: OwnRoundsOptions): Rounds<unknown>;
}

export interface OwnRoundsOptions {
  readonly rules: RoundRules;
  /** Called with what it has drained in a transaction of its own, which is committed. */
  readonly publishDrained: PublishDrained;
  /** Called in each round: whether it goes on to run those of the tenant. */
  runs(tenant: number, goesOn: boolean): void;
}

/** Settings that every round uses. */
export interface RoundRules extends SizeRules {
  readonly schemas: SchemaCache;
  /** In the order in which they are asked. */
  readonly modules: readonly InRounds[];
}

/** Size bounds of a record after a write, and of commits and rounds in memory. */
export interface SizeRules extends ByteBounds {
  /** Largest JSON size of a record. */
  readonly recordBytes: number;
}

/** How a lane runs a round that has to load something: in one transaction, which `judge` leaves open. */
export interface Rounds<Found> {
  load(pipe: Pipe, jobs: readonly Job[]): Promise<Found>;
  judge(pipe: Pipe, jobs: readonly Job[], found: Found): Promise<RoundResult>;
}

export interface LoadInRounds<Found> {
  /** Sends what can be asked in the round's first trip, in this same tick. */
  begin(pipe: Pipe, jobs: readonly Job[]): Promise<Found | undefined>;
  /** With the heads locked: what was found, and what has to be read after all. */
  end(pipe: Pipe, jobs: readonly Job[], heads: readonly LockedHead[], found: Found | undefined): Promise<Found>;
}

export interface TenantInRound {
  readonly head: LockedHead;
  readonly schema: LiveSchema;
  /** All of them are the tenant's. */
  readonly jobs: readonly Job[];
}

/** A tenant whose jobs were judged. */
export interface TenantAfter {
  readonly tenant: number;
  readonly state: TenantState;
}

export interface SavedInRound {
  readonly statements: readonly Statement<void>[];
  /** The tenants of which it has changed something that others follow. */
  readonly changed: readonly number[];
}
