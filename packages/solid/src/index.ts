export type { Bindings, MyPresence, UsedClaim } from "./bindings.ts";
export { createBindings } from "./create-bindings.ts";
export { SyncProvider } from "./sync-provider.ts";
export type { Given } from "./use-live-value.ts";
