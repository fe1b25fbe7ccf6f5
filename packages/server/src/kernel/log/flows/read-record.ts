import { isRecordId, type ReadEnvelope } from "@holdfast/sdk/protocol";
import { readHead } from "../../commits/db/heads.ts";
import { type RecordName, readRecord as readStored } from "../../commits/db/records.ts";
import { tooLargeToRead } from "../../commits/rules/unreadable-record.ts";
import type { Database } from "../../connection/pool.ts";
import type { OpenPlaces } from "../../lists/flows/read-places.ts";
import { type RecordPlaces, relationOf } from "../../lists/flows/record-places.ts";
import { isRefusal, type Refusal, refuse } from "../../refusal.ts";
import { liveSchema } from "../../schema/flows/live-schema.ts";
import type { SchemaCache } from "../../schema/flows/schema-cache.ts";
import type { DeclaredModel } from "../../schema/rules/declared-model.ts";
import type { Principal } from "../../tokens/rules/participant.ts";
import { checkModel, isWithin } from "../../tokens/rules/scope.ts";

/** What modules say of a record that is read. `modelName`: as declared. */
export type OfRecord = (db: Database, record: RecordName, modelName: string) => Promise<Pick<ReadEnvelope, "claims">>;

export type ReadRecord = (reader: Principal, model: string, id: string) => Promise<ReadEnvelope | Refusal>;

/** Reads one record. The stamp is read first: the record may be newer than its stamp, but never older. */
export const readRecord =
  (db: Database, places: OpenPlaces, schemas: SchemaCache, ofRecord: readonly OfRecord[]): ReadRecord =>
  async (reader, model, id) => {
    const { tenant } = reader;
    const schema = await liveSchema(db, schemas, tenant);
    const declared = schema.models.get(model.toLowerCase());
    const hidden = checkModel(reader, declared?.name ?? model);
    if (hidden) return hidden;
    if (!declared) return refuse("unknown_model", { param: "model" });
    if (!isRecordId(id)) return refuse("invalid_id", { param: "id" });
    if (!places.has(declared.model)) return readPresent(db, places, reader, declared, id, ofRecord);
    return places.read(reader, declared.name, async (there) => {
      await places.awaitLog(db, tenant);
      return readPresent(there, places, reader, declared, id, ofRecord);
    });
  };

/** Whether a token may read a record: not one of a model or a group that its scope lacks. */
export type SeeRecord = (reader: Principal, model: string, id: string) => Promise<"seen" | "hidden" | "gone" | Refusal>;

export const seeRecord =
  (db: Database, places: OpenPlaces, schemas: SchemaCache): SeeRecord =>
  async (reader, model, id) => {
    const { tenant, scope } = reader;
    const schema = await liveSchema(db, schemas, tenant);
    const declared = schema.models.get(model.toLowerCase());
    if (checkModel(reader, declared?.name ?? model)) return "hidden";
    if (!declared) return "gone";
    const name = { tenant, model: model.toLowerCase(), id };
    const find = async (from: Database) =>
      await readStored(from, name, await relationOf(places, from, tenant, declared));
    const found = places.has(declared.model) ? await places.read(reader, declared.name, find) : await find(db);
    if (!found) return "gone";
    if (isRefusal(found)) return found;
    return scope && !isWithin(scope, found.groups) ? "hidden" : "seen";
  };

async function readPresent(
  db: Database,
  places: RecordPlaces,
  { tenant, scope }: Principal,
  declared: DeclaredModel,
  id: string,
  ofRecord: readonly OfRecord[],
): Promise<ReadEnvelope | Refusal> {
  const model = declared.name.toLowerCase();
  const { syncId: stamp } = await readHead(db, tenant);
  const relation = await relationOf(places, db, tenant, declared);
  const record = await readStored(db, { tenant, model, id }, relation);
  // A record outside the reader's groups is treated as missing.
  if (!record || (scope && !isWithin(scope, record.groups))) return refuse("record_not_found", { param: "id" });
  if (!("data" in record))
    return refuse("record_too_large", { message: tooLargeToRead(record.unreadable || undefined), status: 413 });
  const said = await Promise.all(ofRecord.map((ask) => ask(db, { tenant, model, id }, declared.name)));
  const { syncId, createdAt, createdBy, updatedAt, updatedBy, archivedAt, data } = record;
  return {
    object: "model",
    model: declared.name,
    id,
    data: { ...data },
    stamp,
    claims: said.flatMap(({ claims }) => claims),
    syncId,
    createdAt,
    createdBy,
    updatedAt,
    updatedBy,
    archivedAt,
  };
}
