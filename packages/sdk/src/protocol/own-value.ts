/**
 * The value of an object's own key. Every object also has `constructor`, `toString` and others, which were not given to it, so
 * no object is looked up by a name that someone else chose except through this function.
 */
export const ownValue = <V>(object: Readonly<Record<string, V>> | null | undefined, key: string): V | undefined =>
  object && Object.hasOwn(object, key) ? object[key] : undefined;
