import { HoldfastDevtools as Panel } from "./panel.tsx";

// Spelled so that bundlers replace it. A build for production then has nothing of the panel.
declare const process: { readonly env: { readonly NODE_ENV?: string } };

/**
 * A panel that shows what the client does: connection, queue, what needs a decision, claims, presence, and the last 200
 * events. Put it anywhere below `SyncProvider`; in production it renders nothing.
 */
export const HoldfastDevtools: typeof Panel = process.env.NODE_ENV === "production" ? () => null : Panel;

export type { DevtoolsProps } from "./panel.tsx";
