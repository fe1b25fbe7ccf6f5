/** The sub-protocol that a client names when it opens the stream. */
export const STREAM_PROTOCOL = "holdfast.v1";

/** Version of the published description of the HTTP interface (`info.version` of `/openapi.json`). */
export const INTERFACE_VERSION = "0.16.1";

/**
 * Counts the changes of what clients and servers send each other. It is never sent itself: within `/v1` and
 * `holdfast.v1` a change only adds, and both sides ignore what they do not know. It is for people who ask since when a
 * server or a client knows something.
 */
export const WIRE_VERSION = 1;

/**
 * One line for each version, the newest last. If an endpoint, a body, a query, an answer, a frame, a webhook or an error
 * code changes, raise WIRE_VERSION and add a line: the date, the change in one sentence, and the hash that the test in
 * `scripts/wire` names. A line that is on the main branch stays as it is.
 */
export const wireHistory: readonly { version: number; date: string; hash: string; change: string }[] = [
  { version: 1, date: "2026-11-24", hash: "ef12f0d746011fb7", change: "The wire of release 0.1.0." },
];
