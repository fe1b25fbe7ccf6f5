import type { Transaction } from "../../../kernel/connection/transaction.ts";
import { listAttachments, MOST_COUNTED, type TenantsTable } from "../db/attachments.ts";
import type { AttachmentStatus } from "../rules/attached-table.ts";
import { problemOf } from "../rules/broken-table.ts";
import { isReadable } from "../rules/check-attached.ts";

/** An attached table of any tenant, as an operator sees it. */
export interface ListedTable
  extends Pick<
    TenantsTable,
    | "tenant"
    | "organization"
    | "environment"
    | "waiting"
    | "waitingBytes"
    | "waitingSince"
    | "model"
    | "name"
    | "problem"
    | "missed"
  > {
  readonly status: AttachmentStatus | "broken";
  /** Its rows are the records, and can be read. */
  readonly isReadable: boolean;
  /** More changes wait than `waiting` says, which were not counted. */
  readonly moreWaiting: boolean;
}

export const listTables = async (db: Transaction): Promise<ListedTable[]> =>
  (await listAttachments(db)).map((table) => {
    const { tenant, organization, environment, waiting, waitingBytes, waitingSince, model, name, status, missed } =
      table;
    const problem = problemOf(table) ?? null;
    return {
      ...{ tenant, organization, environment, waiting, waitingBytes, waitingSince, model, name, problem, missed },
      isReadable: isReadable(table),
      moreWaiting: waiting >= MOST_COUNTED,
      status: problem === null ? status : "broken",
    };
  });
