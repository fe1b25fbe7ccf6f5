import { CommitRefusedError } from "@holdfast/sdk/datasource";

/** What MariaDB says of a statement, as the driver has it. */
interface SqlError {
  readonly errno?: number;
  readonly sqlState?: string;
  readonly sqlMessage?: string;
}

export const isTaken = (error: unknown): boolean => (error as SqlError).errno === 1062;
export const isDeadlock = (error: unknown): boolean => (error as SqlError).errno === 1213;

/** Values that do not fit, constraints, and `signal sqlstate '45000'` of a trigger. */
const REFUSALS = ["22", "23", "45"];
/** They have no class of their own: no default, a value that would be cut. */
const MORE_REFUSALS = [1364, 1265, 1366];

/**
 * What constraints and triggers say is for the author of the write. Everything else, a timeout of a lock or a connection
 * that ends, says nothing of the commit: it comes again. `fields` are by column.
 */
export function asRefusal(error: unknown, operation: number, fields: ReadonlyMap<string, string>): unknown {
  if (error instanceof CommitRefusedError)
    return new CommitRefusedError(error.message, { ...error.details, operation });
  const { errno = 0, sqlState = "", sqlMessage = "" } = error as SqlError;
  if (!REFUSALS.includes(sqlState.slice(0, 2)) && !MORE_REFUSALS.includes(errno)) return error;
  const named = [
    ...sqlMessage.matchAll(/(?:column|field|constraint|foreign key) \(?(?:[`'][^`']*[`']\.)*[`'](?:\w+\.)?(\w+)[`']/gi),
  ];
  const field = named.map(([, column = ""]) => fields.get(column)).find((one) => one !== undefined);
  return new CommitRefusedError(sqlMessage, {
    // The driver's names are those of MySQL: from 4000 on they say something else.
    ...{ code: String(errno), operation },
    ...(field !== undefined && { field }),
  });
}
