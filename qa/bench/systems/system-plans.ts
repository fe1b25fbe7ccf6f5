import type { Task } from "../client/tasks.ts";
import type { SystemName } from "./chosen-system.ts";

/** What the processes of a system are told. */
interface SystemPlan {
  readonly system: SystemName;
  /** The folder where its packages are. */
  readonly packages: string;
}

export interface SystemServerPlan extends SystemPlan {
  /** An empty folder, for what it stores. */
  readonly folder: string;
  readonly rows: number;
}

export interface SystemClientPlan extends SystemPlan {
  readonly url: string;
  readonly task: Task;
  readonly run: string;
}

/** What they print. */
export type Outcome<T> = T | { readonly failed: string };
