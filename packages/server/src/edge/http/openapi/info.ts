import { headers, INTERFACE_VERSION, limits, STREAM_PATH, STREAM_PROTOCOL } from "@holdfast/sdk/protocol";
import type { Plain } from "./json-schema.ts";

const kibibytes = (bytes: number): string =>
  bytes % (1024 * 1024) === 0 ? `${bytes / 1024 / 1024} MiB` : `${bytes / 1024} KiB`;

/** The introduction: what to know before the first request. */
export const info = (base: string): Plain => ({
  title: "Holdfast",
  version: INTERFACE_VERSION,
  summary: "Records that people and agents edit together, and the ordered log of all changes.",
  license: { name: "MIT", identifier: "MIT" },
  description: `Every write is one commit: it is atomic, gets the next positions in one ordered log, and returns a receipt.

**Paths.** Every path works with and without \`/api\` before it, and \`HEAD\` wherever \`GET\` does. With a token, this description includes the models of its tenant, each with its own paths.

**Tokens.** \`Authorization: Bearer <token>\`; never in the URL.

**Errors.** Every error is an \`ErrorEnvelope\`; [every code is explained](${base}/docs/errors). Use the code, not the message, to decide. Every response carries \`${headers.requestId}\`.

**Retries.** With an \`Idempotency-Key\` a write can be sent again: the same key and body return the same receipt, with \`${headers.replayed}: true\`.

**Stale writes.** Send the position that a write is based on as \`readAt\`. If someone else has changed the same field since, \`onStale\` decides: \`reject\` (409), \`overwrite\`, or \`notify\` (200 with \`${headers.held}: true\`, nothing is written, and the receipt says what changed).

**The stream.** \`GET ${STREAM_PATH}\` is a WebSocket with the subprotocol \`${STREAM_PROTOCOL}\`: it sends every commit at once. Error frames are \`ErrorEnvelope\`s too.

**Limits.**

| what | limit |
| --- | --- |
| body | ${kibibytes(limits.bodyBytes)}; commits and bulks ${kibibytes(limits.batchBodyBytes)} |
| a commit | ${limits.operationsPerCommit} operations, ${limits.readsPerCommit} reads |
| a bulk | ${limits.commitsPerBulk} commits, ${limits.operationsPerBulk} operations |
| JSON | ${limits.jsonDepth} levels, ${limits.keysPerObject} keys in one object |
| an id | 1 to ${limits.idLength} of \`A-Za-z0-9_.:~-\` |
| a page | 1 to ${limits.listMax}, default ${limits.listDefault} |
`,
});
