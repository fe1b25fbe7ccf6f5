export type Route = readonly [method: "GET" | "POST" | "PATCH" | "DELETE", path: string];

/** The routes that the SDK asks itself; the others stand in `paths.ts`, which a browser does not load. */
export const clientPaths = {
  commitBulk: ["POST", "/v1/commits/bulk"],
  readCommit: ["GET", "/v1/commits/:clientTxId"],
  readIdentity: ["GET", "/v1/identity"],
  readRecord: ["GET", "/v1/models/:model/:id"],
  readHistory: ["GET", "/v1/models/:model/:id/history"],
  readLog: ["GET", "/v1/log"],
  readSnapshot: ["GET", "/v1/snapshot"],
  acquireClaim: ["POST", "/v1/models/:model/:id/claim"],
  releaseRecord: ["DELETE", "/v1/models/:model/:id/claim"],
  listOwnClaims: ["GET", "/v1/claims/mine"],
  readClaim: ["GET", "/v1/claims/:id"],
  renewClaim: ["POST", "/v1/claims/:id/renew"],
  releaseClaim: ["DELETE", "/v1/claims/:id"],
  listProposals: ["GET", "/v1/proposals"],
  readProposal: ["GET", "/v1/proposals/:id"],
  withdrawProposal: ["POST", "/v1/proposals/:id/withdraw"],
} as const satisfies Record<string, Route>;

export type ClientEndpointName = keyof typeof clientPaths;

/** Where the WebSocket stream is opened. */
export const STREAM_PATH = "/v1/stream";
