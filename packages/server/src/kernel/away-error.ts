/** A database cannot be used now. Its tenants get 503: the code is like those of network errors. */
export class AwayError extends Error {
  readonly code = "EAWAY";
}
