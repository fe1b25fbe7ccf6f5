import type { QueryResultRow } from "pg";

/** A question to the database, named so that each connection prepares it once, with the way to read its answer. */
export interface Statement<T> {
  readonly name: string;
  readonly text: string;
  readonly values: readonly unknown[];
  /** `command` is the tag that Postgres answers with: `SELECT`, `COMMIT`, or `ROLLBACK` where a COMMIT could not be. */
  read(rows: QueryResultRow[], command: string): T;
}

/** What several statements answer, in their order. */
export type Answers<S extends readonly Statement<unknown>[]> = {
  -readonly [I in keyof S]: S[I] extends Statement<infer T> ? T : never;
};

export const begin: Statement<void> = { name: "", text: "begin", values: [], read: () => {} };

/** A failed transaction answers COMMIT with ROLLBACK and no error: that is a failure here. */
export const commit: Statement<void> = {
  name: "",
  text: "commit",
  values: [],
  read: (_rows, command) => {
    if (command !== "COMMIT") throw new Error("The transaction was rolled back instead of committed.");
  },
};

/** Whether the connection answers. */
export const probe: Statement<void> = { name: "", text: "select 1", values: [], read: () => {} };

export const rollback: Statement<void> = { name: "", text: "rollback", values: [], read: () => {} };
