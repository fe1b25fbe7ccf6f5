import type { Pipe } from "../../connection/pipe.ts";
import { loadCascades, loadHolders } from "../db/record-values.ts";
import { type FoundRecord, loadRecords, loadSmallRecords, type RequestedRecord } from "../db/records.ts";
import { type CommitRequest, recordKey } from "../rules/commit-request.ts";
import { MOST_DEPENDENTS } from "../rules/follow-deletes.ts";
import { type FoundValues, type NamedRecord, type NamedValue, NO_VALUES, valueKey } from "../rules/record-values.ts";
import type { TenantState } from "../rules/tenant-state.ts";
import { referencesTo } from "../rules/value-holders.ts";
import type { SizeRules } from "./in-rounds.ts";
import { inPresentForm, type Loaded } from "./load-round.ts";
import { loadMore } from "./round-modules.ts";

interface JudgedState {
  readonly tenant: number;
  readonly state: TenantState;
}

/** Values per statement, and records that have them: what is still missing then is loaded after another judgement. */
const STEP = { values: 50, records: 5_000 };
/** Large records per statement: a table that was attached may have left some of 32 MiB, and answers are bounded. */
const LARGE = 7;

/** Loads what judgements of these tenants found missing. `ended`: the commits that are judged no more. */
export async function loadValues(
  pipe: Pipe,
  loaded: Loaded,
  tenants: readonly JudgedState[],
  sizes: SizeRules,
  ended: readonly CommitRequest[],
): Promise<Loaded> {
  let found = loaded;
  for (const { tenant, state } of tenants) found = await loadOfTenant(pipe, found, { tenant, state }, sizes, ended);
  return found;
}

async function loadOfTenant(
  pipe: Pipe,
  loaded: Loaded,
  { tenant, state }: JudgedState,
  sizes: SizeRules,
  ended: readonly CommitRequest[],
): Promise<Loaded> {
  const { missing } = state.values;
  const before = loaded.values?.get(tenant) ?? NO_VALUES;
  const wanted = await withCascades(pipe, tenant, state);
  const holders = await holdersOf(pipe, tenant, wanted);
  const known = new Set(
    loaded.records.filter((one) => one.tenant === tenant).map(({ model, id }) => recordKey(model, id)),
  );
  const asked = new Map<string, RequestedRecord>();
  for (const { model, id } of missing.targets.values())
    asked.set(recordKey(model, id), { tenant, model, id, values: false });
  for (const [value, ids] of holders.values())
    for (const id of ids) {
      const name = recordKey(value.model, id);
      if (!known.has(name)) asked.set(name, { tenant, model: value.model, id, values: isChanged(value) });
    }
  const names = [...asked.values()];
  const [[read], modules] = await Promise.all([
    pipe.send([loadSmallRecords(names)]),
    loadMore(pipe, loaded.modules, names),
  ]);
  const records = await inPresentForm(pipe, loaded.heads, names, read);
  const large = await readLarge(pipe, tenant, loaded, missing.records, sizes);
  const existing = new Map(before.existing);
  for (const key of asked.keys()) existing.set(key, false);
  for (const { model, id } of records) existing.set(recordKey(model, id), true);
  const replaced = new Set(large.records.map(({ model, id }) => recordKey(model, id)));
  const values: FoundValues = {
    holders: new Map([...before.holders, ...[...holders].map(([key, [, ids]]) => [key, ids] as const)]),
    existing,
    isFull: before.isFull || large.isFull,
    ended: new Set(ended),
  };
  return {
    ...loaded,
    records: [
      ...loaded.records.filter((one) => one.tenant !== tenant || !replaced.has(recordKey(one.model, one.id))),
      ...records,
      ...large.records,
    ],
    modules,
    values: new Map([...(loaded.values ?? []), [tenant, values]]),
  };
}

/**
 * The values whose holders are missing, and those of all records that a deletion reaches through them: a chain of records
 * that reference one another would otherwise be judged anew for each of its links.
 */
async function withCascades(
  pipe: Pipe,
  tenant: number,
  { values }: TenantState,
): Promise<ReadonlyMap<string, NamedValue>> {
  const { missing, declared } = values;
  const cascading = [...missing.holders.values()].filter(isCascade).map(named);
  if (cascading.length === 0) return missing.holders;
  const links = [...declared.referencing].flatMap(([target, references]) =>
    references.flatMap(({ model, reference }) =>
      reference.onDelete === "cascade" ? [{ target, model, name: reference.name }] : [],
    ),
  );
  const [reached] = await pipe.send([loadCascades(tenant, cascading, links, MOST_DEPENDENTS + 1)]);
  const further = reached.flatMap((record: NamedRecord) => referencesTo(values, record));
  return new Map([...missing.holders, ...further.map((value) => [valueKey(value), value] as const)]);
}

const isCascade = ({ declared }: NamedValue): boolean =>
  declared.kind === "reference" && declared.onDelete === "cascade";

const named = ({ model, declared: { name }, text }: NamedValue) => ({ model, name, text });

const isChanged = ({ declared }: NamedValue): boolean =>
  declared.kind === "reference" && declared.onDelete === "setNull";

async function holdersOf(
  pipe: Pipe,
  tenant: number,
  missing: ReadonlyMap<string, NamedValue>,
): Promise<Map<string, [NamedValue, readonly string[]]>> {
  const found = new Map<string, [NamedValue, readonly string[]]>();
  const all = [...missing];
  let count = 0;
  for (let i = 0; i < all.length && count < STEP.records; i += STEP.values) {
    const some = all.slice(i, i + STEP.values);
    const names = some.map(([, { model, declared, text }]) => ({ tenant, model, name: declared.name, text }));
    // One more than may be: then it is known that there are too many.
    const [ids] = await pipe.send([loadHolders(names, MOST_DEPENDENTS + 1)]);
    for (const [n, [key, value]] of some.entries()) found.set(key, [value, ids[n] ?? []]);
    count += ids.reduce((sum, { length }) => sum + length, 0);
  }
  return found;
}

/** The values of large records, as many as one commit may use. */
async function readLarge(
  pipe: Pipe,
  tenant: number,
  loaded: Loaded,
  missing: TenantState["values"]["missing"]["records"],
  { commitBytes }: SizeRules,
): Promise<{ readonly records: readonly FoundRecord[]; readonly isFull: boolean }> {
  const names = [...missing.values()].map(({ model, id }) => ({ tenant, model, id, values: true }));
  let bytes = 0;
  const records: FoundRecord[] = [];
  for (let i = 0; i < names.length; i += LARGE) {
    if (bytes > commitBytes) return { records, isFull: true };
    const some = names.slice(i, i + LARGE);
    // Those of a schema push that is on its way take their place first.
    await inPresentForm(pipe, loaded.heads, some, []);
    const [found] = await pipe.send([loadRecords(some)]);
    records.push(...found);
    bytes += found.reduce((sum, one) => sum + (typeof one.bytes === "number" ? one.bytes : 0), 0);
  }
  return { records, isFull: false };
}
