import type { JsonObject } from "@holdfast/sdk/protocol";
import { readHead } from "../../../kernel/commits/db/heads.ts";
import { valuesText } from "../../../kernel/commits/rules/stored-entry.ts";
import type { Database } from "../../../kernel/connection/pool.ts";
import { momentOf, type Transaction, takeTime, transaction } from "../../../kernel/connection/transaction.ts";
import { readSchema } from "../../../kernel/schema/db/model-schemas.ts";
import { readLastValues } from "../db/attached-records.ts";
import { clearProblem, forgetMissed, installTriggers, readAttachments, readTableRights } from "../db/attachments.ts";
import { captureDeletions, captureRows, type IdPage, readIdsWithoutRow } from "../db/captured-again.ts";
import {
  deleteCapturedChanges,
  type NumberedChange,
  readCapturedChanges,
  readWaitingKeys,
} from "../db/captured-changes.ts";
import { estimateRows, type FoundTable, findTable, readTableRows } from "../db/table-rows.ts";
import { splitArchived } from "../rules/archived-column.ts";
import type { AttachedTable } from "../rules/attached-table.ts";
import { faultsOf } from "../rules/broken-table.ts";
import { changesOf } from "../rules/captured-changes.ts";
import { beingDetached } from "../rules/check-attached.ts";
import { type ComparedRow, differentRows } from "../rules/compare-rows.ts";
import { type CapturedImage, isUnread, readRowImage } from "../rules/row-image.ts";
import { lacksTriggers } from "../rules/table-rights.ts";
import { compareWithCatalog } from "./compare-with-catalog.ts";
import { followCatalog } from "./follow-catalog.ts";
import { hurry, patiently } from "./patiently.ts";
import { requireRights } from "./require-rights.ts";
import { TableError } from "./table-error.ts";
import { tellAllToReadAgain } from "./tell-to-read-again.ts";

export interface Verified {
  /** Rows of the table. */
  readonly rows: number;
  /** Rows that the log last said something else of. */
  readonly different: number;
  /** Rows that are gone, as the log does not know. */
  readonly extra: number;
  /** How many of these were captured again: the collector records them. */
  readonly repaired: number;
  /** The table is not as its model says: no rows were compared. */
  readonly broken: boolean;
  /** Where the table and its model disagree, and what to do, in sentences. */
  readonly problems: readonly string[];
  /** What else is worth knowing, in sentences. */
  readonly notes: readonly string[];
}

export interface VerifyOptions {
  readonly repair?: boolean;
  /** Called after each page: how many rows are compared, then how many records, and about how many there are. */
  progress?(step: "rows" | "records", done: number, about: number): void;
}

const PAGE = 500;

/**
 * Compares a table with what the log said last of its rows, in pages of one moment each. At any moment they are equal,
 * unless a change is captured and waits. With `repair`, what differs is captured again, like a write of the caller's.
 */
export async function verifyTable(
  pool: Database,
  tenant: number,
  model: string,
  { repair = false, progress }: VerifyOptions = {},
): Promise<Verified> {
  await followCatalog(pool, tenant);
  const attached = (await readAttachments(pool, tenant)).find((one) => one.model === model.toLowerCase());
  if (!attached) throw new TableError(`No table is attached to the "${model}" model.`);
  if (attached.status === "detaching") throw new TableError(beingDetached(attached));
  const faults = faultsOf(repair ? { ...attached, silent: [] } : attached);
  const found = await findTable(pool, attached);
  if (!found || (repair && faults.length > 0)) throw new TableError(faults.join("\n"));
  await requireRights(pool, repair ? "repair" : "verify", attached.relation);
  if (repair && (attached.silent.length > 0 || lacksTriggers(await readTableRights(pool, attached.relation))))
    await patiently(pool, attached, {}, async (tx) => {
      await hurry(tx);
      await installTriggers(tx, attached);
    });
  const counts = { rows: 0, different: 0, extra: 0, repaired: 0 };
  if (faults.length > 0) return { ...counts, broken: true, problems: faults, notes: [] };
  const about = await estimateRows(pool, attached.relation);
  const again = repair ? await transaction(pool, (tx) => captureMisread(tx, attached, found)) : 0;
  counts.different = counts.repaired = again;
  let inexact = 0;
  const unreadable: string[] = [];
  for (let after: string | null = null, more = true; more; ) {
    const page: RowPage = await momentOf(pool, (tx) => comparePage(tx, attached, found, after));
    counts.rows += page.count;
    inexact += page.inexact;
    unreadable.push(...page.unreadable);
    counts.different += page.different.length;
    const wrong = page.different;
    if (repair && wrong.length > 0) await transaction(pool, (tx) => captureRows(tx, attached, found, wrong, "updated"));
    if (repair) counts.repaired += wrong.length;
    if (page.count > 0) progress?.("rows", counts.rows, about);
    after = page.last ?? after;
    more = page.count > 0;
  }
  for (let after: string | null | undefined = null, compared = 0; after !== undefined; ) {
    const from: string | null = after;
    const page: IdPage = await momentOf(pool, (tx) => extraPage(tx, attached, found, from));
    counts.extra += page.ids.length;
    if (repair && page.ids.length > 0) await transaction(pool, (tx) => captureDeletions(tx, attached, found, page.ids));
    if (repair) counts.repaired += page.ids.length;
    compared += page.count;
    progress?.("records", compared, counts.rows);
    after = page.last;
  }
  // Rows that the log has never named may have been written or deleted without it. Clients read them again.
  if (repair)
    await transaction(pool, async (tx) => {
      await tellAllToReadAgain(tx, tenant);
      await forgetMissed(tx, attached);
    });
  return {
    ...counts,
    broken: false,
    ...(await remarksOn(pool, repair ? { ...attached, missed: null } : attached, { inexact, unreadable })),
  };
}

/** Why captured changes wait, where the model and the catalog disagree, and what JavaScript cannot tell apart. */
async function remarksOn(
  pool: Database,
  attached: AttachedTable,
  { inexact, unreadable }: { readonly inexact: number; readonly unreadable: readonly string[] },
): Promise<Pick<Verified, "problems" | "notes">> {
  const { tenant, model: key, problem, missed } = attached;
  const { schemaVersion } = await readHead(pool, tenant);
  const schema = await readSchema(pool, tenant, schemaVersion);
  const model = Object.entries(schema?.models ?? {}).find(([name]) => name.toLowerCase() === key)?.[1];
  const compared = model?.table && (await compareWithCatalog(pool, attached, { ...model, table: model.table }));
  return {
    problems: [
      ...[problem, missed].filter((said) => said !== null),
      ...(compared && "message" in compared ? [compared.message] : []),
    ],
    notes: [
      ...(compared && "notes" in compared ? compared.notes : []),
      ...(inexact > 0
        ? [`${inexact} rows have integers beyond ±${Number.MAX_SAFE_INTEGER}, which JavaScript rounds.`]
        : []),
      ...unreadable,
    ],
  };
}

interface RowPage {
  readonly count: number;
  readonly inexact: number;
  /** In sentences: the rows that are too large to be read. */
  readonly unreadable: readonly string[];
  readonly last: string | undefined;
  readonly different: readonly string[];
}

async function comparePage(
  tx: Transaction,
  attached: AttachedTable,
  found: FoundTable,
  after: string | null,
): Promise<RowPage> {
  // Postgres takes many seconds over the JSON of a single row of some 100 MiB, and cannot be interrupted meanwhile.
  await takeTime(tx);
  const images = await readTableRows(tx, attached, found, after, PAGE);
  const rows = images.map((image): ComparedRow => {
    const { id = "", data: said, unreadable } = readRowImage(image, attached);
    if (unreadable !== undefined) return { id, data: {}, unreadable };
    const { data, archivedAt } = splitArchived(said);
    // The log says no more of the moment than that there is one.
    return { id, data, ...(archivedAt !== undefined && { archived: archivedAt !== null }) };
  });
  const texts = await readLastValues(
    tx,
    attached,
    rows.map(({ id }) => id),
  );
  const said = texts.map(({ id, data, archived }): ComparedRow => {
    const values = valuesText({ data });
    return values === null
      ? { id, data: {}, unreadable: data }
      : { id, archived, data: JSON.parse(values) as JsonObject };
  });
  const different = differentRows(rows, said);
  const waiting = await readWaitingKeys(tx, attached, different);
  const inexact = images.filter((image) => hasInexact(image, attached)).length;
  return {
    ...{ count: rows.length, inexact, last: rows.at(-1)?.id, different: different.filter((id) => !waiting.has(id)) },
    unreadable: rows.flatMap(({ id, unreadable }) => (unreadable === undefined ? [] : `"${id}": ${unreadable}`)),
  };
}

const hasInexact = (image: CapturedImage, { columns }: AttachedTable): boolean =>
  !isUnread(image) && columns.some(({ name, declared }) => declared === "integer" && typeof image[name] === "function");

async function extraPage(
  tx: Transaction,
  attached: AttachedTable,
  found: FoundTable,
  after: string | null,
): Promise<IdPage> {
  const page = await readIdsWithoutRow(tx, attached, found, after, PAGE);
  const waiting = await readWaitingKeys(tx, attached, page.ids);
  return { ...page, ids: page.ids.filter((id) => !waiting.has(id)) };
}

/**
 * Changes that were captured while the table lacked a column cannot be read. Their rows are captured again, as they are
 * now. Returns how many rows that were.
 */
async function captureMisread(tx: Transaction, attached: AttachedTable, found: FoundTable): Promise<number> {
  const { tenant, model } = attached;
  const wasThere = new Map<string, boolean>();
  for (let last: number | undefined = 0; last !== undefined; ) {
    const changes: readonly NumberedChange[] = await readCapturedChanges(tx, { tenant, model }, last);
    last = changes.at(-1)?.seq;
    const misread = changes.filter((change) => "problem" in changesOf([change], [attached]));
    await deleteCapturedChanges(
      tx,
      tenant,
      misread.map(({ seq }) => seq),
    );
    for (const { before, after } of misread)
      for (const image of [before, after]) {
        const id = image && readRowImage(image, attached).id;
        if (id !== null && id !== undefined && !wasThere.has(id)) wasThere.set(id, image === before);
      }
  }
  const ids = [...wasThere.keys()];
  const those = (was: boolean) => ids.filter((id) => wasThere.get(id) === was);
  await captureRows(tx, attached, found, those(true), "updated");
  await captureRows(tx, attached, found, those(false), "inserted");
  await captureDeletions(tx, attached, found, those(true));
  await clearProblem(tx, attached);
  return ids.length;
}
