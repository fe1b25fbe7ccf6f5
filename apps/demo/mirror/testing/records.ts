import Database from "libsql";

export interface MirroredRecord {
  readonly model: string;
  readonly id: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly isArchived: boolean;
  readonly syncId: number;
}

interface Stored {
  readonly model: string;
  readonly id: string;
  readonly data: string;
  readonly archived: number;
  readonly sync_id: number;
}

/** What lies in a mirror's file, also while it is being written. */
export function recordsIn(path: string): MirroredRecord[] {
  return readMirror(path).records;
}

/** The records and the position that they stand for, as of one moment. */
export function readMirror(path: string): { readonly position: number; readonly records: MirroredRecord[] } {
  const db = new Database(path, { readonly: true });
  try {
    db.exec("begin");
    const rows = db.prepare("select model, id, data, archived, sync_id from record order by model, id").all();
    const place = db.prepare("select sync_id from place").get() as Pick<Stored, "sync_id">;
    const records = (rows as Stored[]).map(({ model, id, data, archived, sync_id }) => ({
      ...{ model, id, data: JSON.parse(data) as MirroredRecord["data"] },
      ...{ isArchived: archived === 1, syncId: sync_id },
    }));
    return { position: place.sync_id, records };
  } finally {
    db.close();
  }
}
