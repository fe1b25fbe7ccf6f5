import type { PushFollowers } from "../flows/schema/push-schema.ts";
import { builtInHooks } from "../parts/modules.ts";

/** Of a push that changes nothing of what modules know besides. */
export const NO_FOLLOWERS: PushFollowers = { ...builtInHooks, schemaPushed: [] };
