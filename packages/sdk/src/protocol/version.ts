/** The sub-protocol that a client names when it opens the stream. */
export const STREAM_PROTOCOL = "holdfast.v1";

/** Version of the published description of the HTTP interface (`info.version` of `/openapi.json`). */
export const INTERFACE_VERSION = "0.16.1";
