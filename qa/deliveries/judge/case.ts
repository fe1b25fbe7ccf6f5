import type { Endpoint, Received } from "./evidence.ts";
import type { Tenant } from "./possible-states.ts";
import type { Coverage, ReportViolation } from "./violations.ts";

/** The data to judge one endpoint. */
export interface Case {
  readonly endpoint: Endpoint;
  /** Its requests, in the order in which they began. */
  readonly requests: readonly Received[];
  readonly tenant: Tenant;
  readonly coverage: Coverage;
  readonly report: ReportViolation;
}
