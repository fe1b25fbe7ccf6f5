import type { Edit } from "../conformance/mutants.ts";
import type { WorkerHost } from "../deliveries/servers/worker-host.ts";

/** A bug in a copy of the sources, and the suite that has to find it. Without edits, the suite must find nothing. */
export interface MutantCheck {
  readonly name: string;
  readonly edits: readonly Edit[];
  /** It is found quickly, so every test run includes it. */
  readonly isQuick: boolean;
  /** The violation that revealed it; undefined: it was not found. */
  find(environment: TestEnvironment): Promise<string | undefined>;
}

/** The resources that a suite may use. */
export interface TestEnvironment {
  /** A separate empty database. */
  database(): Promise<string>;
  /** One that concurrent suites share. */
  workerHost(): Promise<WorkerHost>;
  /** Where chance begins. */
  readonly seed: number;
  /** How many processes may run at the same time for one bug. */
  readonly processes: number;
}

export interface Suite {
  readonly name: string;
  readonly planted: readonly MutantCheck[];
  /** How many mutants may run at once: some mostly wait, others need the processor. */
  readonly atOnce: number;
}

/** Whether a bug was found, and correct code passed. */
export const isAsItShouldBe = ({ edits }: MutantCheck, found: string | undefined): boolean =>
  edits.length > 0 === (found !== undefined);
