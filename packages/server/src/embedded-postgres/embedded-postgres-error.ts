/** The embedded Postgres cannot be made or started. Its message is a sentence for the operator. */
export class EmbeddedPostgresError extends Error {
  override readonly name = "EmbeddedPostgresError";
}
