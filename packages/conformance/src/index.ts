// The suite as a library, for tests that start a server of their own.

export type { DatasourceArgs } from "./datasource/args.ts";
export { type DatasourceResult, runDatasource } from "./datasource/run-datasource.ts";
export { openTestEnvironment, type Target } from "./environment/test-environment.ts";
export { loadSections } from "./run/load-sections.ts";
export { type Result, runSuite } from "./run/suite.ts";
