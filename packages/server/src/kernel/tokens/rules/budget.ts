/** What a token may write at most. An absent number is no limit. */
export interface Budget {
  readonly commits?: number;
  /** Records that its commits name, counted in each commit. */
  readonly records?: number;
  /** Whether each run has that much, or all that the token does together. */
  readonly per: "run" | "token";
  /** The first token of a chain of rotations: they have one budget together. Absent: the token is the first. */
  readonly chain?: string;
}

/** As its owner gave it. */
export const shownBudget = (budget: Budget | null): Omit<Budget, "chain"> | null => {
  if (!budget) return null;
  const { chain: _, ...given } = budget;
  return given;
};
