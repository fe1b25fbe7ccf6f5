export type { Bindings, MyPresence, UsedClaim } from "./bindings.ts";
export { createBindings } from "./create-bindings.ts";
export { provideClient } from "./provide-client.ts";
export type { Current, Given } from "./use-live-value.ts";
