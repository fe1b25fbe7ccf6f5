/** One shared empty list, so that its identity is stable. */
export const none: readonly never[] = [];
