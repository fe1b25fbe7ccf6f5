/** Dexie describes only the build that its name leads to; this one is the same for browsers of today. */
declare module "dexie/dist/modern/dexie.mjs" {
  export { Dexie } from "dexie";
}
