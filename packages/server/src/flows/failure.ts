// What the edges may know about a database that failed: the code that a caller is answered with.
export { failureCode } from "../db/connection/database-error.ts";
