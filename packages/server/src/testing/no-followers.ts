import type { PushFollowers } from "../flows/schema/push-schema.ts";

/** Of a push that no module follows. */
export const NO_FOLLOWERS: PushFollowers = { checkModels: [], schemaPushed: [] };
