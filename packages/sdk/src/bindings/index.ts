export { type LiveClaim, type LiveClaimOptions, liveClaim } from "./live-claim.ts";
export type { LiveClaimState } from "./live-claim-state.ts";
export { livePart, type PartState } from "./live-part.ts";
export { type LiveRoom, liveRoom, type NextState } from "./live-room.ts";
export type { LiveValue } from "./live-value.ts";
