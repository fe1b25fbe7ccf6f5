/** A set of sequence numbers 1, 2, 3 … that arrive one by one. Some arrive out of order, and some never arrive. */
export interface SeqSet {
  /** All numbers up to this one are known. */
  readonly upTo: number;
  /** Known numbers after a gap, ascending. */
  readonly ahead: readonly number[];
}

export const seqSetUpTo = (upTo: number): SeqSet => ({ upTo, ahead: [] });

export const hasSeq = ({ upTo, ahead }: SeqSet, n: number): boolean => n <= upTo || ahead.includes(n);

/** Whether there is no gap before the last known number. */
export const isWhole = ({ ahead }: SeqSet): boolean => ahead.length === 0;

export const lastSeq = ({ upTo, ahead }: SeqSet): number => ahead.at(-1) ?? upTo;

/** Adds numbers. Returns the same set if all of them are known. */
export function withSeqs(seqs: SeqSet, numbers: readonly number[]): SeqSet {
  let { upTo } = seqs;
  const beyond: number[] = [];
  for (const n of [...seqs.ahead, ...numbers].sort((a, b) => a - b)) {
    if (n === upTo + 1) upTo = n;
    else if (n > upTo && n !== beyond.at(-1)) beyond.push(n);
  }
  const isSame = upTo === seqs.upTo && beyond.length === seqs.ahead.length;
  return isSame ? seqs : { upTo, ahead: beyond };
}
