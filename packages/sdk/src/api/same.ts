/** Returns the previous list if the new one has the same items, because views compare by identity. */
export const same = <T>(before: readonly T[], now: readonly T[]): readonly T[] =>
  before.length === now.length && now.every((item, i) => item === before[i]) ? before : now;

/** Returns the previous object if the new one has the same fields. */
export const sameFields = <T extends object>(before: T | undefined, now: T): T =>
  before && (Object.keys(now) as (keyof T)[]).every((key) => before[key] === now[key]) ? before : now;
