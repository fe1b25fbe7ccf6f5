import type { DumpCounts, Restored, RestoreOptions } from "../kernel/organizations/flows/dump.ts";
import type { OperatorDatabases } from "../modules/databases/flows/operator-databases.ts";
import type { SourceTools } from "../modules/sources/flows/source-tools.ts";
import type { TableTools } from "../modules/tables/flows/table-tools.ts";
import type { WebhookSender } from "../modules/webhooks/send-webhook.ts";
import type { Environment } from "./target.ts";

/** What commands need of the terminal and the process. */
export interface Terminal {
  readonly env: Environment;
  /** What was asked for, on stdout; false: the reader is behind. */
  out(text: string): boolean;
  /** A line for the person, on stderr. */
  say(line: string): void;
  /** From the call on, Ctrl-C does not end the program: it aborts this, and the command comes to its own end. */
  interrupted(): AbortSignal;
  /** Makes the server's own requests to receivers, to any address. */
  openSender(): WebhookSender;
  dump(organization: string | undefined, write: (line: string) => Promise<void>): Promise<DumpCounts>;
  /** Gives all logs new ids; answers how many. */
  renewLogs(): Promise<number>;
  restore(lines: AsyncIterable<string>, options: RestoreOptions): Promise<Restored>;
  withTables<T>(work: (tools: TableTools) => Promise<T>, options?: DatabaseOptions): Promise<T>;
  /** The connection string of the server's own database; undefined: it is the embedded one, and does not run. */
  runningDatabase(): string | undefined;
  withSources<T>(work: (sources: SourceTools) => Promise<T>): Promise<T>;
  withDatabases<T>(work: (databases: OperatorDatabases) => Promise<T>): Promise<T>;
  /**
   * Runs a program in the folder, with the word "once", beside a server that is started for it with these variables.
   * Returns what it printed; undefined: the folder has no `@holdfast/sdk`.
   */
  runOnce(file: string, env: Readonly<Record<string, string>>): Promise<string | undefined>;
  /** For the live tenant of a new organization. */
  newSecretKey(): string;
  newMasterKey(): string;
  /** The current directory. */
  readonly folder: string;
  /** Asks the person at the terminal. Undefined: no one is there to answer. */
  readonly ask: ((question: string) => Promise<string>) | undefined;
}

export interface DatabaseOptions {
  /** Default: the server's, that of `DATABASE_URL` or the embedded one. */
  readonly databaseUrl?: string;
  /** False if the work leaves the database as it is. */
  readonly migrates?: boolean;
}

/** Options of the whole program, which every command may be given too. */
export interface CommonOptions {
  readonly url?: string;
  readonly json?: boolean;
}
