import type { Model } from "@holdfast/sdk/protocol";
import { isRefusal, type Refusal, refuse } from "../rules/refusal.ts";
import { type Authenticator, bearerToken } from "./authenticate.ts";
import type { FollowLog } from "./follow-log.ts";

/** The models of the world that an `Authorization` header opens, or why it opens none. */
export const modelsOf =
  (authenticator: Authenticator, log: FollowLog) =>
  async (
    authorization: string,
  ): Promise<{ world: number; version: number; models: Readonly<Record<string, Model>> } | Refusal> => {
    const token = bearerToken(authorization);
    const principal = token === undefined ? refuse("apikey_invalid") : await authenticator.principalOf(token);
    if (isRefusal(principal)) return principal;
    const { version, models } = await log.schema(principal.world);
    return {
      world: principal.world,
      version,
      models: Object.fromEntries([...models.values()].map(({ name, model }) => [name, model])),
    };
  };
