export interface RefusalDetails {
  /** For programs: it comes to the author as `error.source.code`. Up to 255 characters. */
  readonly code?: string;
  /** The field that is at fault. */
  readonly field?: string;
  /** Index of the operation in the commit. */
  readonly operation?: number;
}

/**
 * Thrown by `commit` to refuse a commit: nothing of it has happened or will happen. Its author gets 409
 * `source_refused` with the message. Any other error means that the outcome is not known, and the commit comes again.
 */
export class CommitRefusedError extends Error {
  override readonly name = "CommitRefusedError";
  readonly details: RefusalDetails;

  constructor(message: string, details: RefusalDetails = {}) {
    super(message);
    this.details = details;
  }
}
