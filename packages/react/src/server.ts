// For servers: it does not import React, so a server component may import it.
export { dehydrate, type Snapshot, type SnapshotQuery } from "./hydration/dehydrate.ts";
