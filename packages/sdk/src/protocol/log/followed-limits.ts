/** The limits of the conditions by which a reader follows. */
export const followedLimits = {
  /** Alternatives of a model, and values of one condition. */
  followedAlternatives: 50,
  followedValues: 100,
  /** Of all conditions of a reader, as JSON in characters: they are part of an address. */
  followedLength: 4_096,
  /** Parts of all models that a client loads and lists, and their conditions as JSON in characters. A stream takes 500, with those that are whole models. */
  loadedParts: 400,
  loadedLength: 61_440,
} as const;
