import type { ClientState } from "../state.ts";

const POLL_AFTER_FAILURES = 3;

/** The client reads the log at intervals, because it has no socket or cannot open one. */
export const isPolling = ({ sockets, stream }: Pick<ClientState, "sockets" | "stream">): boolean =>
  !sockets || (stream.phase !== "live" && stream.failures >= POLL_AFTER_FAILURES);
