// In builds for production too: for an app that loads the panel on demand, as a chunk of its own.
export { type DevtoolsProps, HoldfastDevtools } from "./panel.tsx";
