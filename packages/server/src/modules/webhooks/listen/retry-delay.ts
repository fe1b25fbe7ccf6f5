const FIRST_MS = 1_000;
const LONGEST_MS = 30_000;

/** The wait after so many failures: 1 s, 2 s, 4 s … 30 s. */
export const retryDelayMs = (failures: number): number => Math.min(LONGEST_MS, FIRST_MS * 2 ** (failures - 1));
