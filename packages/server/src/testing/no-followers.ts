import type { PushHooks } from "../kernel/schema/flows/push-schema.ts";
import { builtInHooks } from "../modules/open-modules.ts";

/** Of a push that changes nothing of what modules know besides. */
export const NO_FOLLOWERS: PushHooks = { ...builtInHooks, schemaPushed: [] };
