// For servers: it needs no React, so that a server component may import it.
export { dehydrate, type Snapshot, type SnapshotQuery } from "./hydration/dehydrate.ts";
