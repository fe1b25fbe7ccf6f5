import type { ReadEnvelope } from "@holdfast/sdk/protocol";
import { readHead } from "../db/heads.ts";
import type { Database } from "../db/pool.ts";
import { readRecord as readStored } from "../db/records.ts";
import { isRecordId } from "../rules/record-id.ts";
import { type Refusal, refuse } from "../rules/refusal.ts";
import { liveSchema } from "./live-schema.ts";
import type { SchemaCache } from "./schema-cache.ts";

export type ReadRecord = (world: number, model: string, id: string) => Promise<ReadEnvelope | Refusal>;

/** One record. The stamp is taken first: what is read may be newer than it says, never older. */
export const readRecord =
  (db: Database, schemas: SchemaCache): ReadRecord =>
  async (world, model, id) => {
    const declared = (await liveSchema(db, schemas, world)).models.get(model.toLowerCase());
    if (!declared) return refuse("unknown_model", { param: "model" });
    if (!isRecordId(id)) return refuse("invalid_id", { param: "id" });
    const { syncId: stamp } = await readHead(db, world);
    const record = await readStored(db, { world, model: model.toLowerCase(), id });
    if (!record) return refuse("record_not_found", { param: "id" });
    const { syncId, createdAt, updatedAt, updatedBy, archivedAt, data } = record;
    return {
      object: "model",
      model: declared.name,
      id,
      data: { ...data },
      stamp,
      claims: [],
      syncId,
      createdAt,
      updatedAt,
      updatedBy,
      archivedAt,
    };
  };
