import { claims } from "./claims.ts";
import { conformance } from "./conformance.ts";
import { deliveries } from "./deliveries.ts";
import { simulation } from "./simulation.ts";
import type { Suite } from "./suite.ts";

export const suites: readonly Suite[] = [conformance, claims, deliveries, simulation];
