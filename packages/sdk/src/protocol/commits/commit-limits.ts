/** The size of a request that commits. Apart, because a client needs it only later. */
export const commitLimits = {
  batchBodyBytes: 4_194_304,
  /** Objects, arrays, texts, numbers and so on in one body. */
  jsonValues: 100_000,
} as const;
