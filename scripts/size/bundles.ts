import type { Budget } from "./judge.ts";
import type { BundleRequest } from "./measure.ts";

// What a browser has to load, weighed after minifying and gzip, against what we allow ourselves.
export const bundles: Readonly<Record<string, BundleRequest & { readonly budget: Budget }>> = {
  "@holdfast/sdk": {
    // What every app uses. `increment`, `add` and `remove` are left out: apps without them do not load them.
    entry: {
      text: 'export { createClient, defineSchema, isSyncError, SyncError, schemaHash } from "./index.ts";',
      folder: "packages/sdk/src",
    },
    // TypeBox describes the wire for servers; a browser needs its types and constants only.
    // Later: what works with the disk and the server (with an election without locks and the pruning of the store, 1 KB; with
    // ky and partysocket, 8 KB), the database (32 KB), and claims and presence.
    // At once: 1.25 KB of it judges what is written and asked by the schema, as the server does, so that a mistake throws
    // where it is made.
    // The merging of texts, 3.8 KB of the later ones: the plan of it is 1.7 KB for all apps, the diff 2.1 KB for those whose
    // schema has such fields.
    // Rules that depend on the record, patterns, the facts of rows and undo, 3.5 KB of the later ones, come with the runtime.
    // At once: a quarter of a KB says whose a write and a store are. What compares owners comes with the runtime.
    // What is shown of records in conflict, 1 KB of the later ones, comes with the runtime.
    // Relations, 3 KB of the later ones, are loaded only by apps whose schema has references.
    // What a new part changes in the rows, 1.5 KB of the later ones, comes with the runtime.
    // What is kept of records that are not loaded any more, half a KB of the later ones, comes with the runtime.
    // Whether a query has all of its records, and the index of values, 1.5 KB of the later ones, come with the runtime.
    // How old a write is, and whether it may have been sent, 1 KB of the later ones, come with the runtime.
    // Hundreds of parts on one stream, 1 KB of the later ones, come with the runtime.
    // Proposals, 1.5 KB of the later ones, come with the runtime.
    budget: {
      bytes: 22.5 * 1024,
      laterBytes: 116 * 1024,
      never: ["typebox", "undici"],
      later: ["dexie", "diff", "ky", "partysocket"],
    },
  },
  "@holdfast/sdk, all": {
    entry: "packages/sdk/src/index.ts",
    budget: { bytes: 23.25 * 1024, never: ["typebox", "undici"] },
  },
  "@holdfast/sdk/worker": {
    entry: "packages/sdk/src/worker.ts",
    // For service workers, where nothing can be loaded later: all of the client.
    budget: { bytes: 132 * 1024, laterBytes: 0, never: ["typebox", "undici"] },
  },
  "@holdfast/sdk/draft": {
    entry: "packages/sdk/src/draft/index.ts",
    // Comes with the hooks of React. Later: the merging of texts, which the client loads too.
    budget: { bytes: 2 * 1024, laterBytes: 4 * 1024, never: ["typebox", "zustand"], later: ["diff"] },
  },
  "@holdfast/sdk/bindings": {
    entry: "packages/sdk/src/bindings/index.ts",
    // Comes with the bindings of each framework, and with the hooks of React the claims of it.
    budget: { bytes: 1.75 * 1024, never: ["typebox", "zustand"] },
  },
  "@holdfast/sdk/webhooks": {
    entry: "packages/sdk/src/webhooks/index.ts",
    budget: { bytes: 5 * 1024, never: ["typebox"] },
  },
  "@holdfast/sdk/backend": {
    entry: "packages/sdk/src/backend/index.ts",
    // For edge runtimes: ky, and the check of signatures, without the client.
    budget: { bytes: 12 * 1024, never: ["typebox", "nanoid", "dexie", "partysocket", "undici", "ws"] },
  },
  "@holdfast/react": {
    entry: "packages/react/src/index.ts",
    external: ["react", "@holdfast/sdk"],
    // Half a KB for queries with dates, and for claims of a whole list that render once; queries that load their part.
    budget: { bytes: 4.5 * 1024, never: ["typebox"] },
  },
  "@holdfast/react/infinite": {
    entry: "packages/react/src/infinite.ts",
    external: ["react", "@holdfast/sdk"],
    // Most of it is what the other hooks have too.
    budget: { bytes: 2.7 * 1024, never: ["typebox"] },
  },
  "@holdfast/expo": {
    entry: "packages/expo/src/index.ts",
    external: ["@holdfast/sdk"],
    budget: { bytes: 1.1 * 1024, never: ["typebox"] },
  },
  "@holdfast/vue": {
    entry: "packages/vue/src/index.ts",
    external: ["vue", "@holdfast/sdk"],
    budget: { bytes: 1.25 * 1024, never: ["typebox"] },
  },
  "@holdfast/svelte": {
    entry: "packages/svelte/src/index.ts",
    external: ["svelte", "@holdfast/sdk"],
    budget: { bytes: 1.25 * 1024, never: ["typebox"] },
  },
  "@holdfast/solid": {
    entry: "packages/solid/src/index.ts",
    external: ["solid-js", "@holdfast/sdk"],
    budget: { bytes: 1.25 * 1024, never: ["typebox"] },
  },
  "@holdfast/tanstack-db": {
    entry: "packages/tanstack-db/src/index.ts",
    external: ["@tanstack/db", "@holdfast/sdk"],
    budget: { bytes: 1024, never: ["typebox"] },
  },
};
