import type { Dexie as DexieClass } from "dexie";
// @ts-expect-error The file has no types of its own.
import { Dexie as code } from "dexie/dist/modern/dexie.mjs";

/**
 * Dexie as an ES module. What `dexie` exports is CommonJS inside, whose helpers a bundler may load at once; and it throws
 * if the app has another version of Dexie.
 */
export const Dexie = code as typeof DexieClass;
