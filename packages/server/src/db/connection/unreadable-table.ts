import { errorState } from "./database-error.ts";

/** The caller's table cannot be read now: it is gone or changed, or our role may not. */
export class UnreadableTable extends Error {
  constructor(table: string, cause: unknown) {
    super(`${table} cannot be read (${(cause as Error).message}): "holdfast tables verify" says more.`, { cause });
  }
}

/** A missing right, table, column, type or operator, or a value that became another type's. */
const UNREADABLE = /^(42|22)/;

/** Reads records of a source. */
export async function reading<T>(
  { table }: { readonly table: string | undefined },
  read: () => Promise<T>,
): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (table !== undefined && UNREADABLE.test(errorState(error) ?? "")) throw new UnreadableTable(table, error);
    throw error;
  }
}
