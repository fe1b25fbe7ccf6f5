export type IsEqual<T> = (a: T, b: T) => boolean;

/** Whether two values are equal, or two arrays or plain objects have equal items. */
export const shallowEqual = (a: unknown, b: unknown): boolean => equal(a, b, 1);

/** Whether two values are equal at every level. */
export const deepEqual = (a: unknown, b: unknown): boolean => equal(a, b, Number.POSITIVE_INFINITY);

function equal(a: unknown, b: unknown, depth: number): boolean {
  if (Object.is(a, b)) return true;
  if (a instanceof Date && b instanceof Date) return a.getTime() === b.getTime();
  if (depth === 0 || !isBag(a) || !isBag(b) || Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && equal(a[key], b[key], depth - 1))
  );
}

// A Map or a class instance may have hidden state, so two of them are never equal here.
function isBag(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null || Array.isArray(value);
}
