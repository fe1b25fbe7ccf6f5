import type { Plain } from "./json-schema.ts";

/** Parts that are used in many places, each written once. */
export interface Shared {
  /** Returns a reference to the part. Uses the narrow name if another part already has the wide one. */
  put(part: Plain, wide: string, narrow: string): Plain;
  all(): Readonly<Record<string, Plain>>;
}

export function createShared(kind: string): Shared {
  const parts: Record<string, Plain> = {};
  const names = new Map<string, string>();
  return {
    put(part, wide, narrow) {
      const text = JSON.stringify(part);
      const name = names.get(text) ?? (Object.hasOwn(parts, wide) ? narrow : wide);
      names.set(text, name);
      parts[name] = part;
      return { $ref: `#/components/${kind}/${name}` };
    },
    all: () => parts,
  };
}
