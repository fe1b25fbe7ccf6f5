import type { Json } from "@holdfast/sdk";
/** One shared empty list, so that its identity is stable. */
export const none: readonly never[] = [];

export const noCounts: ReadonlyMap<Json, number> = new Map();
