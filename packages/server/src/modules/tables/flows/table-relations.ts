import type { RecordRelation } from "../../../db/lists/record-relation.ts";
import type { Relations } from "../../../flows/lists/record-places.ts";
import { WRITTEN_BY } from "../../../rules/commits/captured-commit.ts";
import { READABLE_BYTES } from "../../../rules/commits/unreadable-record.ts";
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
