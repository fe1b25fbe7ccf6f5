import type { Model } from "@holdfast/sdk/protocol";
import type { FollowLog } from "./follow-log.ts";

/** A world's models under their declared names. */
export const modelsOf =
  (log: FollowLog) =>
  async (world: number): Promise<{ version: number; models: Readonly<Record<string, Model>> }> => {
    const {
      schema: { version, models },
    } = await log.standing(world);
    return { version, models: Object.fromEntries([...models.values()].map(({ name, model }) => [name, model])) };
  };
