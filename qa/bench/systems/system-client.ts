// The clients of another system in a process of their own. Do one task, and print what came of it as JSON.
import { type ClientFigures, flush, heard, load, type Task, writes } from "../client/tasks.ts";
import { installedIn, systemOf } from "./chosen-system.ts";
import type { Outcome, SystemClientPlan } from "./system-plans.ts";

const plan = JSON.parse(process.argv[2] ?? "{}") as SystemClientPlan;
const installed = installedIn(plan.packages);
const open = (deckId?: string) => systemOf(plan.system).connect(installed, plan.url, deckId);

async function perform(task: Task): Promise<ClientFigures> {
  switch (task.name) {
    case "writes":
      return writes(open, plan.run, task);
    case "heard":
      return heard(open, (await open()).write, task);
    case "flush":
      return flush(open, plan.run, task);
    case "load":
      return load(open, task);
  }
}

const outcome: Outcome<ClientFigures> = await perform(plan.task).catch((error: unknown) => ({ failed: String(error) }));
process.stdout.write(`${JSON.stringify(outcome)}\n`, () => process.exit(0));
