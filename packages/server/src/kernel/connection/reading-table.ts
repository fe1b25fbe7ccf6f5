import { errorState } from "./database-error.ts";
import { UnreadableTable } from "./unreadable-table.ts";

/** A missing right, table, column, type or operator, a value that became another type's, or an exception of a cast. */
const UNREADABLE = /^(42|22|38|39|P0)/;
export const isUnreadable = (error: unknown): boolean => UNREADABLE.test(errorState(error) ?? "");

/** Reads records in a relation. */
export async function reading<T>(
  { table }: { readonly table: string | undefined },
  read: () => Promise<T>,
): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (table !== undefined && isUnreadable(error)) throw new UnreadableTable(table, error);
    throw error;
  }
}
