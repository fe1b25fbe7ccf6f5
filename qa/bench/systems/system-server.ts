// The server of another system in a process of its own. Prints its address as JSON when it listens.
import { installedIn, systemOf } from "./chosen-system.ts";
import type { Outcome, SystemServerPlan } from "./system-plans.ts";

const plan = JSON.parse(process.argv[2] ?? "{}") as SystemServerPlan;
const outcome: Outcome<{ readonly url: string }> = await systemOf(plan.system)
  .serve(installedIn(plan.packages), plan.rows, plan.folder)
  .catch((error: unknown) => ({ failed: String(error) }));
process.stdout.write(`${JSON.stringify(outcome)}\n`);
