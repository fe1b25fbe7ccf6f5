import type { QueryResultRow } from "pg";

/** A query with its parser. The name makes each connection prepare it only once. */
export interface Statement<T> {
  readonly name: string;
  readonly text: string;
  readonly values: readonly unknown[];
  /** `command` is the tag of Postgres's reply: `SELECT`, `COMMIT`, or `ROLLBACK` if a COMMIT was not possible. */
  read(rows: QueryResultRow[], command: string): T;
}

/** The results of several statements, in order. */
export type Answers<S extends readonly Statement<unknown>[]> = {
  -readonly [I in keyof S]: S[I] extends Statement<infer T> ? T : never;
};

/** Each statement sees what was committed before it, whatever the database's default is: our rounds rely on that. */
export const BEGIN = "begin isolation level read committed";
export const begin: Statement<void> = { name: "", text: BEGIN, values: [], read: () => {} };

const plain = (text: string): Statement<void> => ({ name: "", text, values: [], read: () => {} });

/** What the caller's triggers may have left on a connection: another tenant's round has its own settings, role and locks. */
export const resets = [plain("reset all"), plain("reset role"), plain("select pg_advisory_unlock_all()")] as const;

/** In the place of a statement that is not needed this time. */
export const nothing: Statement<undefined> = { name: "nothing", text: "select", values: [], read: () => undefined };

/** In a failed transaction, COMMIT replies ROLLBACK without an error. Treat that as a failure. */
export const commit: Statement<void> = {
  name: "",
  text: "commit",
  values: [],
  read: (_rows, command) => {
    if (command !== "COMMIT") throw new Error("The transaction was rolled back instead of committed.");
  },
};

/** Checks that the connection responds. */
export const probe: Statement<void> = { name: "", text: "select 1", values: [], read: () => {} };

export const rollback: Statement<void> = { name: "", text: "rollback", values: [], read: () => {} };

export const savepoint: Statement<void> = { name: "", text: "savepoint s", values: [], read: () => {} };

/** Undoes what was done since the savepoint; the transaction goes on. */
export const rollbackToSavepoint: Statement<void> = { name: "", text: "rollback to s", values: [], read: () => {} };
