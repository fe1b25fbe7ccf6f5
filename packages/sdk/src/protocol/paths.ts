/** Endpoint name → method and path. Every path is answered with `/api` before it too. */
export const paths = {
  createRecord: ["POST", "/v1/models/:model"],
  updateRecord: ["PATCH", "/v1/models/:model/:id"],
  deleteRecord: ["DELETE", "/v1/models/:model/:id"],
  readRecord: ["GET", "/v1/models/:model/:id"],
  listRecords: ["GET", "/v1/models/:model"],
  readHistory: ["GET", "/v1/models/:model/:id/history"],
  archiveRecord: ["POST", "/v1/models/:model/:id/archive"],
  unarchiveRecord: ["POST", "/v1/models/:model/:id/unarchive"],
  commit: ["POST", "/v1/commits"],
  commitBulk: ["POST", "/v1/commits/bulk"],
  readCommit: ["GET", "/v1/commits/:clientTxId"],
  readLog: ["GET", "/v1/log"],
  readSnapshot: ["GET", "/v1/snapshot"],
  pushSchema: ["POST", "/v1/schema"],
  readSchema: ["GET", "/v1/schema"],
  listDatasources: ["GET", "/v1/datasources"],
  readUsage: ["GET", "/v1/usage"],
  createCapability: ["POST", "/v1/capabilities"],
  listCapabilities: ["GET", "/v1/capabilities"],
  readCapability: ["GET", "/v1/capabilities/:id"],
  rotateCapability: ["POST", "/v1/capabilities/:id/rotate"],
  revokeCapability: ["DELETE", "/v1/capabilities/:id"],
  createEphemeralKey: ["POST", "/v1/ephemeral_keys"],
  listEphemeralKeys: ["GET", "/v1/ephemeral_keys"],
  revokeEphemeralKey: ["DELETE", "/v1/ephemeral_keys/:id"],
  revokeEphemeralKeys: ["DELETE", "/v1/ephemeral_keys"],
  readIdentity: ["GET", "/v1/identity"],
  createOrganization: ["POST", "/v1/organizations"],
  listOrganizations: ["GET", "/v1/organizations"],
  createSecretKey: ["POST", "/v1/secret_keys"],
  listSecretKeys: ["GET", "/v1/secret_keys"],
  revokeSecretKey: ["DELETE", "/v1/secret_keys/:id"],
} as const satisfies Record<string, readonly [method: "GET" | "POST" | "PATCH" | "DELETE", path: string]>;

export type EndpointName = keyof typeof paths;

/** Where the WebSocket stream is opened. */
export const STREAM_PATH = "/v1/stream";
