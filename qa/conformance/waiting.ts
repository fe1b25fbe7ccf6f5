/**
 * Cases that our own server does not pass yet: what they ask for is still to be built. A case that passes has to leave
 * this list, and the test says so.
 */
export const waiting: readonly string[] = [];
