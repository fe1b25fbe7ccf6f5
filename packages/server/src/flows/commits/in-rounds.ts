import type { LockedHead } from "../../db/commits/heads.ts";
import type { RecordName } from "../../db/commits/records.ts";
import type { Pipe } from "../../db/connection/pipe.ts";
import type { Statement } from "../../db/connection/statement.ts";
import type { RoundModule, TenantState } from "../../rules/commits/tenant-state.ts";
import type { LiveSchema } from "../schema/schema-cache.ts";
import type { Job } from "./job.ts";
import type { RoundAnswer } from "./round-outcome.ts";

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
  emptyAt?(tenant: Omit<TenantInRound, "jobs">): RoundModule | undefined;
  save(tenants: readonly TenantAfter[], jobs: readonly Job[], answers: readonly RoundAnswer[]): SavedInRound;
  /** What it has changed in the head of a tenant. */
  headOf?(state: TenantState): Partial<LockedHead>;
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

/** A module has changed something of a tenant that others follow. */
export interface Changed {
  readonly module: string;
  readonly tenant: number;
}
