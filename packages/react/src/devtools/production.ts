// Also works in production builds, for an app that loads the panel on demand as a separate chunk.
export { type DevtoolsProps, HoldfastDevtools } from "./panel.tsx";
