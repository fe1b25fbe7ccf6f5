import { WRITTEN_BY } from "../../../kernel/commits/rules/captured-commit.ts";
import { READABLE_BYTES } from "../../../kernel/commits/rules/unreadable-record.ts";
import type { RecordRelation } from "../../../kernel/lists/db/record-relation.ts";
import type { Relations } from "../../../kernel/lists/flows/record-places.ts";
import { attachedRelation } from "../db/attached-relation.ts";
import { archivedOf } from "../rules/archived-column.ts";
import { isKeyOf } from "../rules/attached-key.ts";
import type { AttachedTable } from "../rules/attached-table.ts";
import { formOf, takesType } from "../rules/sql-type.ts";

export const relationOfTable = (table: AttachedTable): RecordRelation =>
  attachedRelation(table, {
    isKeyOf,
    takesType,
    formOf,
    archivedOf,
    readableBytes: READABLE_BYTES,
    madeBy: WRITTEN_BY,
  });

export const relationsOfTables = (attached: readonly AttachedTable[]): Relations =>
  new Map(attached.map((table) => [table.model, relationOfTable(table)]));
