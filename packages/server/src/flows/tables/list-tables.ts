import type { Transaction } from "../../db/connection/transaction.ts";
import { listAttachments, MOST_COUNTED, type TenantsTable } from "../../db/tables/attachments.ts";
import type { AttachmentStatus } from "../../rules/tables/attached-table.ts";
import { problemOf } from "../../rules/tables/broken-table.ts";

/** An attached table of any tenant, as an operator sees it. */
export interface ListedTable
  extends Pick<
    TenantsTable,
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
  /** More changes wait than `waiting` says, which were not counted. */
  readonly moreWaiting: boolean;
}

export const listTables = async (db: Transaction): Promise<ListedTable[]> =>
  (await listAttachments(db)).map((table) => {
    const { organization, environment, waiting, waitingBytes, waitingSince, model, name, status, missed } = table;
    const problem = problemOf(table) ?? null;
    return {
      ...{ organization, environment, waiting, waitingBytes, waitingSince, model, name, problem, missed },
      moreWaiting: waiting >= MOST_COUNTED,
      status: problem === null ? status : "broken",
    };
  });
