import type { JsonObject } from "@holdfast/sdk/protocol";
import { readRecordTexts } from "../../db/commits/records.ts";
import type { Database } from "../../db/connection/pool.ts";
import { momentOf, type Transaction, transaction } from "../../db/connection/transaction.ts";
import { installTriggers, readAttachments, readTableRights } from "../../db/tables/attachments.ts";
import { captureDeletions, captureRows, readIdsWithoutRow } from "../../db/tables/captured-again.ts";
import { deleteCapturedChanges, readCapturedChanges } from "../../db/tables/captured-changes.ts";
import { estimateRows, type FoundTable, findTable, readTableRows } from "../../db/tables/table-rows.ts";
import type { AttachedTable } from "../../rules/tables/attached-table.ts";
import { changesOf } from "../../rules/tables/captured-changes.ts";
import { beingDetached } from "../../rules/tables/check-attached.ts";
import { compareRows } from "../../rules/tables/compare-rows.ts";
import { readRowImage } from "../../rules/tables/row-image.ts";
import { lacksTriggers } from "../../rules/tables/table-rights.ts";
import { hurry, patiently } from "./patiently.ts";
import { requireRights } from "./require-rights.ts";
import { TableError } from "./table-error.ts";

export interface Verified {
  /** Rows of the table. */
  readonly rows: number;
  /** Rows without a record. */
  readonly missing: number;
  /** Rows whose record has other values. */
  readonly different: number;
  /** Records without a row. */
  readonly extra: number;
  /** How many of these were captured again: the collector records them. */
  readonly repaired: number;
}

export interface VerifyOptions {
  readonly repair?: boolean;
  /** Called after each page: how many rows are compared, then how many records, and about how many there are. */
  progress?(step: "rows" | "records", done: number, about: number): void;
}

const PAGE = 500;

/**
 * Compares a table with its records, in pages of one moment each. At any moment, a row equals its record unless a
 * change of it is captured and waits. With `repair`, what differs is captured again, like a write of the caller's.
 */
export async function verifyTable(
  pool: Database,
  tenant: number,
  model: string,
  { repair = false, progress }: VerifyOptions = {},
): Promise<Verified> {
  const attached = (await readAttachments(pool, tenant)).find((one) => one.model === model.toLowerCase());
  if (!attached) throw new TableError(`No table is attached to the "${model}" model.`);
  if (attached.status === "detaching") throw new TableError(beingDetached(attached));
  const found = await findTable(pool, attached);
  if (!found) throw new TableError(`${attached.name} is gone, or its column ${attached.keyColumn}.`);
  await requireRights(pool, repair ? "repair" : "verify", attached.relation);
  if (repair && lacksTriggers(await readTableRights(pool, attached.relation)))
    await patiently(pool, attached, {}, async (tx) => {
      await hurry(tx);
      await installTriggers(tx, attached);
    });
  if (repair) await transaction(pool, (tx) => dropUnreadable(tx, attached));
  const about = await estimateRows(pool, attached.relation);
  const counts = { rows: 0, missing: 0, different: 0, extra: 0, repaired: 0 };
  for (let after: string | null = null, more = true; more; ) {
    const page: RowPage = await momentOf(pool, (tx) => comparePage(tx, attached, found, after));
    counts.rows += page.count;
    counts.missing += page.missing.length;
    counts.different += page.different.length;
    const wrong = [...page.missing, ...page.different];
    if (repair && wrong.length > 0) await transaction(pool, (tx) => captureRows(tx, attached, found, wrong));
    if (repair) counts.repaired += wrong.length;
    progress?.("rows", counts.rows, about);
    after = page.last ?? null;
    more = page.count === PAGE;
  }
  for (let after: string | undefined = "", compared = 0; after !== undefined; ) {
    const from: string = after;
    const page: IdPage = await momentOf(pool, (tx) => extraPage(tx, attached, found, from));
    counts.extra += page.ids.length;
    if (repair && page.ids.length > 0) await transaction(pool, (tx) => captureDeletions(tx, attached, found, page.ids));
    if (repair) counts.repaired += page.ids.length;
    compared += page.count;
    progress?.("records", compared, counts.rows);
    after = page.last;
  }
  return counts;
}

interface RowPage {
  readonly count: number;
  readonly last: string | undefined;
  readonly missing: readonly string[];
  readonly different: readonly string[];
}

async function comparePage(
  tx: Transaction,
  attached: AttachedTable,
  found: FoundTable,
  after: string | null,
): Promise<RowPage> {
  const images = await readTableRows(tx, attached, found, after, PAGE);
  const rows = images.map((image) => {
    const { id = "", data } = readRowImage(image, attached);
    return { id, data };
  });
  const texts = await readRecordTexts(
    tx,
    attached.tenant,
    attached.model,
    rows.map(({ id }) => id),
  );
  const records = texts.map(({ id, data }) => ({ id, data: JSON.parse(data) as JsonObject }));
  const { missing, different } = compareRows(rows, records);
  const waits = missing.length + different.length > 0 ? await waitingIds(tx, attached) : () => false;
  const isWrong = (id: string) => !waits(id);
  return {
    ...{ count: rows.length, last: rows.at(-1)?.id },
    ...{ missing: missing.filter(isWrong), different: different.filter(isWrong) },
  };
}

type IdPage = Awaited<ReturnType<typeof readIdsWithoutRow>>;

async function extraPage(tx: Transaction, attached: AttachedTable, found: FoundTable, after: string): Promise<IdPage> {
  const page = await readIdsWithoutRow(tx, attached, found, after, PAGE);
  const waits = page.ids.length > 0 ? await waitingIds(tx, attached) : () => false;
  return { ...page, ids: page.ids.filter((id) => !waits(id)) };
}

/** Whether a record's change is captured and waits. */
async function waitingIds(tx: Transaction, attached: AttachedTable): Promise<(id: string) => boolean> {
  const changes = await readCapturedChanges(tx, attached.tenant, attached.model);
  const images = changes.flatMap(({ before, after }) => [before, after].filter((image) => image !== null));
  const ids = new Set(images.map((image) => readRowImage(image, attached).id));
  return (id) => ids.has(id);
}

/** Drops changes that were captured while the table lacked a column. The rows themselves are compared afterwards. */
async function dropUnreadable(tx: Transaction, attached: AttachedTable): Promise<void> {
  const changes = await readCapturedChanges(tx, attached.tenant, attached.model);
  const unreadable = changes.filter((change) => "problem" in changesOf([change], [attached]));
  await deleteCapturedChanges(
    tx,
    attached.tenant,
    unreadable.map(({ seq }) => seq),
  );
}
