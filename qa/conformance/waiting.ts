/**
 * Cases that our own server does not pass yet, because the feature is missing. A case that passes has to leave
 * this list, and the test says so.
 */
export const waiting: readonly string[] = [];
