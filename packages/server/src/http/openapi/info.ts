import { headers, INTERFACE_VERSION, limits, STREAM_PATH, STREAM_PROTOCOL } from "@holdfast/sdk/protocol";
import type { Plain } from "./json-schema.ts";

const kibibytes = (bytes: number): string =>
  bytes % (1024 * 1024) === 0 ? `${bytes / 1024 / 1024} MiB` : `${bytes / 1024} KiB`;

/** What there is to know before the first request. */
export const info = (base: string): Plain => ({
  title: "Holdfast",
  version: INTERFACE_VERSION,
  summary: "Records that people and agents edit together, and the ordered log of every change.",
  license: { name: "MIT", identifier: "MIT" },
  description: `Every write is one commit: it happens whole or not at all, takes the next positions of one ordered log, and is answered with a receipt.

**Addresses.** Every path answers with and without \`/api\` before it, and \`HEAD\` wherever \`GET\` does. With a token this description has the models of its tenant, each with paths of its own.

**Tokens.** \`Authorization: Bearer <token>\`; never in the address.

**Errors.** Every error is an \`ErrorEnvelope\`; [every code is explained](${base}/docs/errors). Decide by the code, not by the message. Every answer carries \`${headers.requestId}\`.

**Writing twice.** With an \`Idempotency-Key\` a write may be sent again and again: the same key and the same body give the same receipt, with \`${headers.replayed}: true\`.

**Stale writes.** Send the position that a write is based on as \`readAt\`. When somebody else touched the same field since, \`onStale\` says what happens: \`reject\` (409), \`overwrite\`, or \`notify\` (200 with \`${headers.held}: true\`, nothing is written, the receipt tells what moved).

**The stream.** \`GET ${STREAM_PATH}\` is a WebSocket with the subprotocol \`${STREAM_PROTOCOL}\`: it says every commit as it happens. Error frames are \`ErrorEnvelope\`s too.

**Limits.**

| what | limit |
| --- | --- |
| body | ${kibibytes(limits.bodyBytes)}; commits and bulks ${kibibytes(limits.batchBodyBytes)} |
| a commit | ${limits.operationsPerCommit} operations, ${limits.readsPerCommit} reads |
| a bulk | ${limits.commitsPerBulk} commits, ${limits.operationsPerBulk} operations |
| JSON | ${limits.jsonDepth} levels, ${limits.keysPerObject} keys in one object |
| an id | 1 to ${limits.idLength} of \`A-Za-z0-9_.:~-\` |
| a page | 1 to ${limits.listMax}, ${limits.listDefault} when nothing is said |
`,
});
