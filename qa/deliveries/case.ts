import type { Endpoint, Received } from "./evidence.ts";
import type { Tenant } from "./possible-states.ts";
import type { Coverage, ReportViolation } from "./violations.ts";

/** One endpoint before the judge. */
export interface Case {
  readonly endpoint: Endpoint;
  /** Its own, in the order in which they began. */
  readonly requests: readonly Received[];
  readonly tenant: Tenant;
  readonly coverage: Coverage;
  readonly report: ReportViolation;
}
