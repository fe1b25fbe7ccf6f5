/** What the person at the terminal can mend. Only its message is shown. */
export class CreateError extends Error {
  override readonly name = "CreateError";
}
