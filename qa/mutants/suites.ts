import { claims } from "./claims.ts";
import { commits } from "./commits.ts";
import { conformance } from "./conformance.ts";
import { deliveries } from "./deliveries.ts";
import { simulation } from "./simulation.ts";
import type { Suite } from "./suite.ts";
import { tables } from "./tables.ts";

export const suites: readonly Suite[] = [conformance, commits, claims, deliveries, tables, simulation];
