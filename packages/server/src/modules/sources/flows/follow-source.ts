import { setTimeout as pause } from "node:timers/promises";
import { isRecordId, sourceLimits } from "@holdfast/sdk/protocol";
import { readHead } from "../../../kernel/commits/db/heads.ts";
import type { RecordChange } from "../../../kernel/commits/rules/record-change.ts";
import type { Database } from "../../../kernel/connection/pool.ts";
import { liveSchema } from "../../../kernel/schema/flows/live-schema.ts";
import type { LiveSchema, SchemaCache } from "../../../kernel/schema/flows/schema-cache.ts";
import { type StoredSource, saveProgress } from "../db/sources.ts";
import { readSourceRecord } from "../rules/source-answer.ts";
import type { CallSource } from "./call-source.ts";
import type { Observation } from "./observe-records.ts";
import { listPage, loadShown, type Shown } from "./shown-records.ts";

export interface FollowDeps {
  readonly db: Database;
  readonly schemas: SchemaCache;
  readonly recordBytes: number;
  readonly call: CallSource;
  /** Brings records into the log. Returns those that have to be asked for again. */
  observe(observation: Observation): Promise<readonly RecordChange[]>;
  /** Says of a source what it has shown that cannot be a record. */
  tell(source: StoredSource, problem: string): Promise<void>;
}

/** How often records are asked for again at once that commits of ours are writing, and how long between. */
const ATTEMPTS = 3;
const REST_MS = 100;
/** More records that could not be read keep the events from being read further. */
const MOST_LEFT = 1_000;

type Name = StoredSource["again"][number];

/**
 * Reads which records of a source have changed, and asks it for them: only how they are now counts, so it does not
 * matter whether an event comes late, twice, or in another order. Then reads some more of the models whose records are
 * not all known yet. Records that commits are on their way to are asked for again the next time. Returns whether there is
 * more to read.
 */
export async function followSource(
  deps: FollowDeps,
  source: StoredSource,
): Promise<"more" | "again" | "all" | "no answer"> {
  const { db, call } = deps;
  const { tenant, id } = source;
  const schema = await liveSchema(db, deps.schemas, tenant);
  const models = [...schema.models].flatMap(([key, { model }]) => (model.source === id ? [key] : []));
  const page = { datasource: id, limit: sourceLimits.pageSize };
  const events = await call(source, { ...page, type: "events", cursor: source.cursor });
  if (!events || events === "too large") return "no answer";
  const again: Name[] = [];
  for (const model of models) {
    const named = [...source.again, ...events.events].filter(
      (one) => one.model.toLowerCase() === model && isRecordId(one.id),
    );
    const ids = [...new Set(named.map((one) => one.id))];
    for (let i = 0; i < ids.length; i += sourceLimits.idsPerLoad) {
      const left = await loadRecords(deps, source, schema, model, ids.slice(i, i + sourceLimits.idsPerLoad));
      if (!left) return "no answer";
      again.push(...left);
    }
  }
  const listed = await listMore(deps, source, schema, models);
  if (!listed) return "no answer";
  again.push(...listed.left);
  if (again.length > MOST_LEFT) return "again";
  const { left: _, ...progress } = listed;
  await saveProgress(db, { ...source, cursor: events.cursor, ...progress, again }, { caughtUp: events.more !== true });
  const hasMore =
    events.more === true || progress.listing !== null || models.some((one) => !progress.listed.includes(one));
  return hasMore ? "more" : again.length > 0 ? "again" : "all";
}

/** Brings these records into the log as the source has them now. Returns those that are being written; undefined: there was no answer. */
export async function loadRecords(
  deps: Omit<FollowDeps, "schemas">,
  source: StoredSource,
  schema: LiveSchema,
  model: string,
  ids: readonly string[],
): Promise<readonly Name[] | undefined> {
  let wanted = ids;
  for (let attempt = 0; wanted.length > 0 && attempt < ATTEMPTS; attempt += 1) {
    if (attempt > 0) await pause(REST_MS);
    const { syncId: since } = await readHead(deps.db, source.tenant);
    const name = schema.models.get(model)?.name ?? model;
    const found = await loadShown(deps.call, source, name, wanted);
    if (!found) return undefined;
    const shown = new Map(found.map((record) => [record.id, record]));
    const records = await readAll(deps, source, schema, model, wanted, shown);
    const left = await deps.observe({ tenant: source.tenant, schema, since, records });
    wanted = left.map((one) => one.id);
  }
  return wanted.map((id) => ({ model, id }));
}

/** The next page of the records of a model that is not known yet. */
async function listMore(
  deps: FollowDeps,
  source: StoredSource,
  schema: LiveSchema,
  models: readonly string[],
): Promise<(Pick<StoredSource, "listed" | "listing"> & { readonly left: readonly Name[] }) | undefined> {
  const listed = source.listed.filter((model) => models.includes(model));
  const going = source.listing && models.includes(source.listing.model) ? source.listing : null;
  const model = going?.model ?? models.find((one) => !listed.includes(one));
  if (model === undefined) return { listed, listing: null, left: [] };
  const { syncId: since } = await readHead(deps.db, source.tenant);
  const name = schema.models.get(model)?.name ?? model;
  const answer = await listPage(deps.call, source, name, going?.cursor ?? null);
  if (!answer) return undefined;
  const shown = new Map(answer.records.map((record) => [record.id, record]));
  const records = await readAll(deps, source, schema, model, [...shown.keys()], shown);
  const left = (await deps.observe({ tenant: source.tenant, schema, since, records })).map(({ id }) => ({ model, id }));
  return answer.cursor === null
    ? { listed: [...listed, model], listing: null, left }
    : { listed, listing: { model, cursor: answer.cursor }, left };
}

/** How these records are at the source. One that cannot be a record of the model is left out, and the owner is told. */
async function readAll(
  { recordBytes, tell }: Pick<FollowDeps, "recordBytes" | "tell">,
  source: StoredSource,
  schema: LiveSchema,
  model: string,
  ids: readonly string[],
  shown: ReadonlyMap<string, Shown>,
): Promise<RecordChange[]> {
  const declared = schema.models.get(model);
  const changes: RecordChange[] = [];
  let problem: string | undefined;
  for (const id of ids) {
    const record = shown.get(id);
    const read = record && ("problem" in record ? record : declared && readSourceRecord(declared, record, recordBytes));
    if (read && "problem" in read) problem ??= read.problem;
    else changes.push({ model, id, data: read?.data ?? null });
  }
  if (problem !== undefined) await tell(source, problem);
  return changes;
}
