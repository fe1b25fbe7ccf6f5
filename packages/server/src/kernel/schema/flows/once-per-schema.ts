import type { LiveSchema } from "./schema-cache.ts";

/** What a schema says of something that is asked in each round, worked out once. */
export function oncePerSchema<T extends object | boolean>(work: (schema: LiveSchema) => T): (schema: LiveSchema) => T {
  const known = new WeakMap<LiveSchema, T>();
  return (schema) => {
    const found = known.get(schema);
    if (found !== undefined) return found;
    const made = work(schema);
    known.set(schema, made);
    return made;
  };
}
