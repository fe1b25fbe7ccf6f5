import { setTimeout as pause } from "node:timers/promises";
import { type JsonObject, jsonEqual, sourceLimits } from "@holdfast/sdk/protocol";
import { readRecordIds, readRecordTexts } from "../../../kernel/commits/db/records.ts";
import type { Database } from "../../../kernel/connection/pool.ts";
import type { LiveSchema } from "../../../kernel/schema/flows/schema-cache.ts";
import type { DeclaredModel } from "../../../kernel/schema/rules/declared-model.ts";
import type { StoredSource } from "../db/sources.ts";
import { readSourceRecord } from "../rules/source-answer.ts";
import type { CallSource } from "./call-source.ts";
import { type FollowDeps, loadRecords } from "./follow-source.ts";
import { listPage, loadShown } from "./shown-records.ts";

/** How the records of a model differ from what their source has. */
export interface VerifiedModel {
  readonly model: string;
  /** Records that the source has. */
  readonly records: number;
  /** Of those, the ones that are not known here. */
  readonly missing: number;
  /** Records with other values than at the source. */
  readonly different: number;
  /** Records that the source does not have. */
  readonly extra: number;
  /** Those that cannot be records of the model: they are left out. */
  readonly unfit: number;
  /** Up to ten that differ, as `<id>: <how>`. */
  readonly examples: readonly string[];
  /** How many of the missing, different and extra ones are as at the source now. */
  readonly repaired: number;
}

export interface VerifyDeps {
  readonly db: Database;
  readonly schema: LiveSchema;
  readonly recordBytes: number;
  readonly call: CallSource;
  /** Why the newest call had no answer. */
  readonly problemOf: (source: StoredSource) => string | undefined;
  readonly observe: FollowDeps["observe"];
  /** How long a change may be on its way from the source: what differs is compared again after that. */
  readonly settleMs: number;
}

export interface VerifyOptions {
  readonly repair: boolean;
  readonly progress?: (model: string, records: number) => void;
}

const MOST_EXAMPLES = 10;

/** What keeps a datasource from being compared. The message is a sentence for the operator. */
export class SourceError extends Error {}

/**
 * Compares the records of a model with its source, page by page, without a lock. With `repair`, those that differ are
 * read from the source as if it had named them in an event.
 */
export async function verifyModel(
  deps: VerifyDeps,
  source: StoredSource,
  declared: DeclaredModel,
  { repair, progress }: VerifyOptions,
): Promise<VerifiedModel> {
  const { name } = declared;
  const key = name.toLowerCase();
  const counts = {
    model: name,
    records: 0,
    missing: 0,
    different: 0,
    extra: 0,
    unfit: 0,
    repaired: 0,
    examples: [] as string[],
  };
  const compare = (ids: readonly string[]) => compareWithSource(deps, source, declared, ids);

  /** Compares ids that seemed to differ, once a change of them would have arrived. */
  async function settle(ids: readonly string[], kinds: readonly Difference[]): Promise<void> {
    const wrong = [...(await compare(ids))].filter(([, kind]) => kinds.includes(kind));
    for (const [id, kind] of wrong) {
      counts[kind] += 1;
      if (counts.examples.length < MOST_EXAMPLES) counts.examples.push(`${id}: ${kind}`);
    }
    const mendable = wrong.flatMap(([id, kind]) => (kind === "unfit" ? [] : [id]));
    if (!repair || mendable.length === 0) return;
    const left = await loadRecords({ ...deps, tell: async () => {} }, source, deps.schema, key, mendable);
    if (!left) throw silent(deps, source);
    counts.repaired += mendable.length - left.length;
  }

  const later = createDelay(deps.settleMs);
  const take = async (ids: readonly string[], kinds: readonly Difference[]): Promise<void> => {
    const found = [...(await compare(ids)).keys()];
    if (found.length > 0) later.add(() => settle(found, kinds));
    await later.due();
  };

  for (let after: string | undefined = ""; after !== undefined; ) {
    const ids: string[] = await readRecordIds(deps.db, source.tenant, key, after, sourceLimits.idsPerLoad);
    await take(ids, ["different", "extra"]);
    after = ids.at(-1);
  }
  for (let cursor: string | null = null, more = true; more; ) {
    const page: Awaited<ReturnType<typeof listPage>> = await listPage(deps.call, source, name, cursor);
    if (!page) throw silent(deps, source);
    counts.records += page.records.length;
    await take([...new Set(page.records.map(({ id }) => id))], ["missing", "unfit"]);
    progress?.(name, counts.records);
    cursor = page.cursor;
    more = cursor !== null;
  }
  await later.rest();
  return counts;
}

/** Work that may run after a while: in order, when someone has time for it. */
function createDelay(ms: number) {
  const waiting: { readonly at: number; readonly work: () => Promise<void> }[] = [];
  const due = async (): Promise<void> => {
    for (let [next] = waiting; next && next.at <= performance.now(); [next] = waiting) {
      waiting.shift();
      await next.work();
    }
  };
  return {
    add: (work: () => Promise<void>) => void waiting.push({ at: performance.now() + ms, work }),
    /** Runs what is due. */
    due,
    /** Waits for the rest, and runs it. */
    async rest() {
      for (let [next] = waiting; next; [next] = waiting) {
        await pause(Math.max(0, next.at - performance.now()));
        await due();
      }
    },
  };
}

type Difference = "missing" | "different" | "extra" | "unfit";

/** Of these ids, those that differ, and how. */
async function compareWithSource(
  deps: VerifyDeps,
  source: StoredSource,
  declared: DeclaredModel,
  ids: readonly string[],
): Promise<Map<string, Difference>> {
  if (ids.length === 0) return new Map();
  const { db, call, recordBytes } = deps;
  const shown = await loadShown(call, source, declared.name, ids);
  if (!shown) throw silent(deps, source);
  const atSource = new Map(shown.map((record) => [record.id, record]));
  const texts = await readRecordTexts(db, source.tenant, declared.name.toLowerCase(), ids);
  const here = new Map(texts.map(({ id, data }) => [id, JSON.parse(data) as JsonObject]));
  const found = new Map<string, Difference>();
  for (const id of ids) {
    const record = atSource.get(id);
    const own = here.get(id);
    const read = record && ("problem" in record ? record : readSourceRecord(declared, record, recordBytes));
    if (read && "problem" in read) found.set(id, "unfit");
    else if (read && !own) found.set(id, "missing");
    else if (!read && own) found.set(id, "extra");
    else if (read && own && !isSame(declared, own, read.data)) found.set(id, "different");
  }
  return found;
}

/** Fields that a source leaves out have no value, or their default. */
const isSame = ({ model }: DeclaredModel, own: JsonObject, shown: JsonObject): boolean =>
  Object.entries(model.fields).every(([field, { nullable }]) =>
    Object.hasOwn(shown, field)
      ? jsonEqual(own[field] ?? null, shown[field] ?? null)
      : !nullable || (own[field] ?? null) === null,
  );

function silent({ problemOf }: VerifyDeps, source: StoredSource): SourceError {
  const problem = problemOf(source);
  return new SourceError(`The datasource ${source.id} does not answer${problem ? `: ${problem}` : "."}`);
}
