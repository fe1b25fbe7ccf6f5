/** Numbers 1, 2, 3 … that are told one by one, some of them before those that they follow, some never. */
export interface SeqSet {
  /** All up to here are known. */
  readonly upTo: number;
  /** Known beyond that, ascending. */
  readonly ahead: readonly number[];
}

export const seqSetUpTo = (upTo: number): SeqSet => ({ upTo, ahead: [] });

export const hasSeq = ({ upTo, ahead }: SeqSet, n: number): boolean => n <= upTo || ahead.includes(n);

/** Whether none is missing before the last one that is known. */
export const isWhole = ({ ahead }: SeqSet): boolean => ahead.length === 0;

export const lastSeq = ({ upTo, ahead }: SeqSet): number => ahead.at(-1) ?? upTo;

/** The same ledger when nothing of it is news. */
export function withSeqs(ledger: SeqSet, numbers: readonly number[]): SeqSet {
  let { upTo } = ledger;
  const beyond: number[] = [];
  for (const n of [...ledger.ahead, ...numbers].sort((a, b) => a - b)) {
    if (n === upTo + 1) upTo = n;
    else if (n > upTo && n !== beyond.at(-1)) beyond.push(n);
  }
  const isSame = upTo === ledger.upTo && beyond.length === ledger.ahead.length;
  return isSame ? ledger : { upTo, ahead: beyond };
}
