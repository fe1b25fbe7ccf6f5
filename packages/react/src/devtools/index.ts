import { HoldfastDevtools as Panel } from "./panel.tsx";

// Written so that bundlers can replace it. A production build then contains nothing of the panel.
declare const process: { readonly env: { readonly NODE_ENV?: string } };

/**
 * A panel that shows what the client does: connection, queue, decisions to make, claims, presence, and the last 200
 * events. Render it anywhere below `SyncProvider`; in production it renders nothing.
 */
export const HoldfastDevtools: typeof Panel = process.env.NODE_ENV === "production" ? () => null : Panel;

export type { DevtoolsProps } from "./panel.tsx";
