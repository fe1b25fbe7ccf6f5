import type { Model } from "@holdfast/sdk/protocol";
import type { FollowLog } from "../../log/flows/follow-log.ts";

/** A tenant's models by declared name. */
export async function modelsOf(
  log: FollowLog,
  tenant: number,
): Promise<{ version: number; models: Readonly<Record<string, Model>> }> {
  const { version, models } = (await log.current(tenant)).schema;
  return { version, models: Object.fromEntries([...models.values()].map(({ name, model }) => [name, model])) };
}
