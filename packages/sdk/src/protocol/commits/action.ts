/** What an operation can do. */
export const ACTIONS = ["create", "update", "delete", "archive", "unarchive"] as const;
export type Action = (typeof ACTIONS)[number];
