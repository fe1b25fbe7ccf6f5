import type { Pipe } from "../../connection/pipe.ts";
import type { Statement } from "../../connection/statement.ts";
import type { LiveSchema } from "../../schema/flows/schema-cache.ts";
import type { LockedHead } from "../db/heads.ts";
import type { Expectation } from "../db/save-creates.ts";
import type { Round, SavedEntry } from "../db/save-round.ts";
import type { RoundOutcome } from "./round-outcome.ts";

/** The entries that a round appended to one tenant's log, in order: (from, to]. */
export interface CommittedBatch {
  readonly tenant: number;
  readonly from: number;
  readonly to: number;
  readonly entries: readonly SavedEntry[];
  /** The schema that the commits were judged by. */
  readonly schema: LiveSchema;
}

/** A module has changed something of a tenant that others follow. */
export interface Changed {
  readonly module: string;
  readonly tenant: number;
}

/** What has happened in tables or services of the caller's, and was appended to a tenant's log. */
export interface Drained {
  readonly from: number;
  readonly to: number;
  /** The modules that have changed something which others follow. */
  readonly changed: readonly string[];
}

/** Publishes what was drained, here and to other processes. */
export type PublishDrained = (tenant: number, drained: Drained) => void;

export interface RoundResult {
  /** In the order of the jobs. */
  readonly outcomes: readonly RoundOutcome[];
  readonly batches: readonly CommittedBatch[];
  /** What modules have changed, and others follow. */
  readonly changed: readonly Changed[];
  /** What `save` has to write. */
  readonly round: Round;
  /** The values of unique fields and of checked references. */
  readonly values: readonly Statement<void>[];
  /** Of the modules, in their order. */
  readonly ofModules: readonly Statement<void>[];
  /** The tenants' heads after the round. */
  readonly heads: readonly LockedHead[];
  /** What the round drained first. */
  readonly drained?: Drained;
  /** Only for a round that was judged without a load: what it assumed. */
  readonly expected?: Expectation;
  /** The connection whose transaction holds the locks. */
  readonly pipe: Pipe;
}
