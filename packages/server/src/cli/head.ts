import type { SnapshotStart } from "@holdfast/sdk/protocol";
import { askFirstLine, type Target } from "./ask.ts";

/** Where a tenant's log ends now, and which log it is. A snapshot tells it also where the log's beginning was trimmed. */
export const headOf = (target: Target): Promise<SnapshotStart> =>
  askFirstLine<SnapshotStart>(target, "/v1/snapshot?limit=1");
