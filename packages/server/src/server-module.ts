import type { ErrorCode } from "@holdfast/sdk/protocol";

/** A module of one's own, beside those that come with the server. Experimental: a later release may change it. */
export interface ServerModule {
  /** Lower-case letters, digits and hyphens, up to 40. Its routes are at `/v1/x/<name>`. */
  readonly name: string;
  /**
   * Called when the server opens a database with tenants, to make tables, in one transaction and in one process at a time.
   * If it rejects, that database is not opened; the start fails if it is the service's own.
   */
  open?(db: ModuleDatabase): Promise<void>;
  /** Takes part in rounds of commits. */
  readonly rounds?: ModuleRounds;
  readonly routes?: readonly ModuleRoute[];
}

export interface ModuleDatabase {
  /** Runs one SQL statement with parameters `$1`, `$2`, …, and resolves with its rows. */
  query<Row extends object>(text: string, values?: readonly unknown[]): Promise<readonly Row[]>;
}

/**
 * What a module does in rounds of commits: one transaction for the commits of some tenants that wait at the same time,
 * under the locks of their logs. `State` is what it knows of one tenant in one round; a round may be judged twice, each
 * time with a state of its own. A server with such a module reads before it writes also where it only creates records.
 */
export interface ModuleRounds<State = unknown> {
  /**
   * Reads in the round's transaction what judging needs, with `db` alone. No other round of this tenant goes on meanwhile,
   * and other tenants of the round wait. After 2 s it has failed.
   */
  load(db: ModuleDatabase, round: ModuleRound): Promise<State>;
  /** Whether a commit may happen, after what the server checks itself of its operations. Throws only for defects. */
  judge?(state: State, commit: ModuleCommit): ModuleRefusal | undefined;
  /**
   * A commit happens, though it may have operations that change nothing: of a record that does not exist, with the values
   * that are there, with a key that was used. Those behind it in the round are judged after this.
   */
  confirmed?(state: State, commit: ModuleCommit): void;
  /** What to write in the round's transaction: all of it is committed with the commits, or none. */
  save?(state: State, tenant: number): readonly ModuleStatement[];
}

export interface ModuleRound {
  /** The number of the tenant: an organization has two of them, for live and for test data. */
  readonly tenant: number;
  readonly commits: readonly ModuleCommit[];
}

export interface ModuleCommit {
  readonly organization: string;
  readonly livemode: boolean;
  /** `<kind>:<id>` */
  readonly participant: string;
  readonly clientTxId: string | undefined;
  /** What the author sent: not what `onDelete` deletes or changes besides, and without values. */
  readonly operations: readonly ModuleOperation[];
}

export interface ModuleOperation {
  readonly action: "create" | "update" | "delete" | "archive" | "unarchive" | "erase";
  /** In lower case. */
  readonly model: string;
  readonly id: string;
}

export interface ModuleStatement {
  readonly text: string;
  readonly values?: readonly unknown[];
}

/** Becomes an error of the API: the code has its status and meaning from the table of errors. */
export interface ModuleRefusal {
  readonly code: ErrorCode;
  /** For people. It must not reveal what other participants wrote. */
  readonly message: string;
  /** Of a commit: a field of its first operation, which the caller reads as `operations[0].<param>`. */
  readonly param?: string;
}

/** A route for callers with a token. Its path begins with `/v1/x/<name>`. */
export interface ModuleRoute {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** `/…`, with parameters as `:id`. */
  readonly path: string;
  /** Who may call: any token of a tenant by default, or only secret keys. */
  readonly audience?: "token" | "secret_key";
  handle(request: ModuleRequest): Promise<ModuleAnswer>;
}

export interface ModuleRequest extends Omit<ModuleCommit, "clientTxId" | "operations"> {
  readonly tenant: number;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** The JSON body, of any shape. Undefined: there was none. */
  readonly body: unknown;
  /** The database of the tenant. */
  readonly db: ModuleDatabase;
}

export type ModuleAnswer =
  /** Sent as JSON. */
  { readonly status?: number; readonly body: unknown } | { readonly refusal: ModuleRefusal };
