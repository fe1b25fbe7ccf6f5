import type { Model } from "@holdfast/sdk/protocol";
import type { FollowLog } from "../log/follow-log.ts";

/** A tenant's models by declared name. */
export const modelsOf =
  (log: FollowLog) =>
  async (tenant: number): Promise<{ version: number; models: Readonly<Record<string, Model>> }> => {
    const {
      schema: { version, models },
    } = await log.current(tenant);
    return { version, models: Object.fromEntries([...models.values()].map(({ name, model }) => [name, model])) };
  };
