/** The caller's table cannot be read now: it is gone or changed, or our role may not. */
export class UnreadableTable extends Error {
  constructor(table: string, cause: unknown) {
    super(`${table} cannot be read (${(cause as Error).message}): "holdfast tables verify" says more.`, { cause });
  }
}
