/** Dexie declares types only for its default build. The modern build has the same API. */
declare module "dexie/dist/modern/dexie.mjs" {
  export { Dexie } from "dexie";
}
