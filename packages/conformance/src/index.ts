// The suite as a library, for tests that start a server of their own.

export { loadSections } from "./load-sections.ts";
export { type Result, runSuite } from "./suite.ts";
export { openTestEnvironment, type Target } from "./test-environment.ts";
