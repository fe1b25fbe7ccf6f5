// Uses only fetch types and WebCrypto, so it runs in Node, in edge runtimes and in browsers.
export type {
  SourceCommit,
  SourceOperation,
  SourceRecord,
} from "../protocol/datasources/source-calls.ts";
export type { NodeRequest, NodeResponse } from "../webhooks/node-request.ts";
export type { Secrets } from "../webhooks/secret.ts";
export { CommitRefusedError, type RefusalDetails } from "./commit-refused-error.ts";
export {
  type CommittedRecord,
  createDatasourceHandler,
  type DatasourceHandler,
  type DatasourceHandlerOptions,
  type EventPage,
  type ListPage,
} from "./create-datasource-handler.ts";
