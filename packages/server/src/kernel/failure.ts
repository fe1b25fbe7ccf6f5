// The only database detail that the edges may use: the error code for a failed query.
export { failureCode } from "./connection/database-error.ts";
export { UnreadableTable } from "./connection/unreadable-table.ts";
