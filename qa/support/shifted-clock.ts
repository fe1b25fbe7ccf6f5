import { fileURLToPath } from "node:url";
import type { ServerPlan } from "./killable-server.ts";

const PRELOAD = fileURLToPath(new URL("./shifted-clock.mjs", import.meta.url));

/** A server whose process clock is shifted. */
export const shifted = (ms: number, plan: ServerPlan = {}): ServerPlan => ({
  ...plan,
  node: [...(plan.node ?? []), "--import", PRELOAD],
  env: { ...plan.env, CLOCK_SHIFT_MS: String(ms) },
});
