import type { Write } from "../../../../packages/sdk/src/api/writes/write-api.ts";
import { isSyncError } from "../../../../packages/sdk/src/errors.ts";
import type { CommitReceipt } from "../../../../packages/sdk/src/protocol/commits/commit.ts";
import type { Owner } from "../schedule.ts";

export type PromiseState = "open" | "kept" | "broken";

/** A write of an app, and its results. */
export interface NotedWrite {
  readonly name: string;
  readonly actor: string;
  readonly tab: Owner;
  /** The records that it touches, `model/id`. */
  readonly keys: readonly string[];
  queued: PromiseState;
  receipt: PromiseState;
  /** The name that its receipt gives: another one, where it went on under that. */
  confirmedAs: string | undefined;
  /** The code that its receipt was refused with. */
  code: string | undefined;
}

/** The writes of apps and their results, for the oracle. */
export class Observations {
  readonly writes: NotedWrite[] = [];
  /** Names that a person has decided about, or that went with such a decision: `<actor> <name>`. */
  readonly decided = new Set<string>();
  /** Names of resent writes after a refusal. They count as late, whatever their slot. */
  readonly retried = new Set<string>();
  /** What was promised so far and turned out not to be so. */
  readonly broken: string[] = [];

  /** `listeners` are called when the promise resolves. */
  note(
    write: Write,
    given: { actor: string; tab: Owner; keys: readonly string[] },
    listeners: {
      queued(noted: NotedWrite): string | undefined;
      confirmed(noted: NotedWrite, receipt: CommitReceipt): string | undefined;
    },
  ): void {
    const noted: NotedWrite = {
      name: write.clientTxId,
      ...given,
      queued: "open",
      receipt: "open",
      confirmedAs: undefined,
      code: undefined,
    };
    this.writes.push(noted);
    write.queued.then(
      () => {
        noted.queued = "kept";
        this.#complain(listeners.queued(noted));
      },
      () => {
        noted.queued = "broken";
      },
    );
    write.receipt.then(
      (receipt) => {
        noted.receipt = "kept";
        noted.confirmedAs = receipt.clientTxId;
        this.#complain(listeners.confirmed(noted, receipt));
      },
      (error: unknown) => {
        noted.receipt = "broken";
        noted.code = isSyncError(error) ? error.code : String(error);
      },
    );
  }

  #complain(about: string | undefined): void {
    if (about !== undefined) this.broken.push(about);
  }
}
