import type { Edit } from "../conformance/mutants.ts";
import type { WorkerHost } from "../deliveries/worker-host.ts";

/** A fault in a copy of the sources, and who has to find it. Without edits: whoever looks has to find nothing. */
export interface MutantCheck {
  readonly name: string;
  readonly edits: readonly Edit[];
  /** It is found quickly, so every test run includes it. */
  readonly isQuick: boolean;
  /** By what it was found; undefined: it was not. */
  find(environment: TestEnvironment): Promise<string | undefined>;
}

/** What somebody who looks may ask for. */
export interface TestEnvironment {
  /** An empty database of one's own. */
  database(): Promise<string>;
  /** One for all who look at the same time. */
  workerHost(): Promise<WorkerHost>;
  /** Where chance begins. */
  readonly seed: number;
  /** How many processes may run at the same time for one bug. */
  readonly processes: number;
}

export interface Suite {
  readonly name: string;
  readonly planted: readonly MutantCheck[];
  /** So many can be looked for at the same time: some only wait, others need the machine. */
  readonly atOnce: number;
}

/** What should be found is; what should not, is not. */
export const isAsItShouldBe = ({ edits }: MutantCheck, found: string | undefined): boolean =>
  edits.length > 0 === (found !== undefined);
