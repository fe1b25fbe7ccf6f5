/** The embedded Postgres cannot be created or started. The message is a sentence for the operator. */
export class EmbeddedPostgresError extends Error {
  override readonly name = "EmbeddedPostgresError";
}
