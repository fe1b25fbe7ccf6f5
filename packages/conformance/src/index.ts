// The suite as a library, for tests that start a server of their own.

export { openTestEnvironment, type Target } from "./environment/test-environment.ts";
export { loadSections } from "./run/load-sections.ts";
export { type Result, runSuite } from "./run/suite.ts";
