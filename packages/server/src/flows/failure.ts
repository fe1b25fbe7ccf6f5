// The only database detail that the edges may use: the error code for a failed query.
export { failureCode } from "../db/connection/database-error.ts";
export { UnreadableTable } from "../db/connection/unreadable-table.ts";
