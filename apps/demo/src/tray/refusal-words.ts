import type { SyncError } from "@holdfast/sdk";

/** Why the server refused a change, in this page's words. For other codes it shows the server's message. */
export const refusalWords = ({ code, message }: Pick<SyncError, "code" | "message">): string =>
  sentences[code] ?? message;

const sentences: Partial<Readonly<Record<SyncError["code"], string>>> = {
  already_exists: "It is still there, or there again.",
  record_not_found: "It is gone.",
  capability_scope_denied: "You may not do that.",
  request_too_large: "It is too long to be sent.",
  storage_full: "The server has no room left.",
};
