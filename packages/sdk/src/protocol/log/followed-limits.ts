/** The limits of the conditions by which a reader follows. */
export const followedLimits = {
  /** Alternatives of a model, and values of one condition. */
  followedAlternatives: 50,
  followedValues: 100,
  /** Of all conditions of a reader, as JSON in characters: they are part of an address. */
  followedLength: 4_096,
} as const;
