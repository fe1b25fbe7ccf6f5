/** The one empty list: whoever is shown nothing is always shown the same. */
export const none: readonly never[] = [];
