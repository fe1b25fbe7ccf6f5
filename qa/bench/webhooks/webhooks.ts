import type { Row } from "../report/table.ts";
import { openStage } from "../stage/stage.ts";
import { measureBacklog } from "./webhook-backlog.ts";
import { measureCost } from "./webhook-cost.ts";
import { measureLag } from "./webhook-lag.ts";
import { measureWebhookMemory } from "./webhook-memory.ts";

/** How fast the log reaches one endpoint, whether one that hangs is felt by others, what twenty cost the commits, and in memory. */
export async function measureWebhooks(options: {
  rounds: number;
  seconds: number;
  print(line: string): void;
}): Promise<Row[]> {
  await using stage = await openStage();
  return [
    ...(await measureBacklog(stage, options)),
    ...(await measureLag(stage, options)),
    ...(await measureCost(stage, options)),
    ...(await measureWebhookMemory(stage, options)),
  ];
}
