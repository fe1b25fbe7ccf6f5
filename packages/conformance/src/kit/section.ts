import type { Kit } from "./kit.ts";

/** A file of cases about one subject. */
export interface SuiteSection {
  readonly title: string;
  /** True: its cases disturb other sections, so it runs alone. */
  readonly alone?: boolean;
  /** How many of its cases run at once: for cases that mostly wait. */
  readonly together?: number;
  readonly cases: readonly Case[];
}

export interface Case {
  /** The sentence that the case checks. It makes sense on its own. */
  readonly says: string;
  readonly check: (kit: Kit) => Promise<unknown>;
}

export const check = (says: string, body: Case["check"]): Case => ({ says, check: body });

/** One case for each row of a table; the sentence is made from the row. */
export const checkEach = <Row>(
  rows: readonly Row[],
  says: (row: Row) => string,
  body: (kit: Kit, row: Row) => Promise<unknown>,
): readonly Case[] => rows.map((row) => check(says(row), (kit) => body(kit, row)));
