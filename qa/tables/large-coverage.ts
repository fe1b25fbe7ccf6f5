import type { NotedChange } from "./evidence.ts";
import { isUnreadable } from "./row-state.ts";

/** How many large values were written, and of how many the log says what their writers left. */
export interface LargeCoverage {
  readonly rows: Figures;
  readonly byClients: Figures;
  readonly unreadable: Figures;
  readonly transactions: Figures;
}

export interface Figures {
  readonly written: number;
  readonly verified: number;
}

/** A change of a row, and whether the log has it as it was. */
export interface ComparedChange {
  readonly change: NotedChange;
  readonly isEqual: boolean;
}

const MIB = 2 ** 20;
/** A client's record can have 1 MiB. */
const LARGE_OF_CLIENT = MIB / 2;
/** A transaction that changes so many rows, or so many of 1 MB, is large. */
const MANY_ROWS = 5_000;
const MANY_PAPERS = 60;

/** `whole`: the transactions in SQL that the log has as one commit. */
export function largeCoverage(
  compared: readonly ComparedChange[],
  noted: ReadonlyMap<string, readonly NotedChange[]>,
  whole: ReadonlySet<string>,
): LargeCoverage {
  const figures = (is: (change: NotedChange) => boolean): Figures => {
    const found = compared.filter(({ change }) => is(change));
    return { written: found.length, verified: found.filter(({ isEqual }) => isEqual).length };
  };
  const large = [...noted].filter(([, changes]) => isLarge(changes)).map(([tx]) => tx);
  return {
    rows: figures((change) => change.isSql && bytesOf(change) > MIB && !isUnreadable(change)),
    byClients: figures((change) => !change.isSql && bytesOf(change) > LARGE_OF_CLIENT),
    unreadable: figures(isUnreadable),
    transactions: { written: large.length, verified: large.filter((tx) => whole.has(tx)).length },
  };
}

const bytesOf = ({ bytes = 0 }: NotedChange): number => bytes;

const isLarge = (changes: readonly NotedChange[]): boolean =>
  idsOf(changes) >= MANY_ROWS || idsOf(changes.filter(({ model }) => model === "paper")) >= MANY_PAPERS;

const idsOf = (changes: readonly NotedChange[]): number => new Set(changes.map(({ id }) => id)).size;
