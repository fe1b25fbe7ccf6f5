import type { SnapshotStart } from "@holdfast/sdk/protocol";
import { requestFirstLine, type Target } from "./request.ts";

/** Reads the end and the id of a tenant's log. It reads a snapshot, which works even if the start of the log was trimmed. */
export const headOf = (target: Target): Promise<SnapshotStart> =>
  requestFirstLine<SnapshotStart>(target, "/v1/snapshot?limit=1");
