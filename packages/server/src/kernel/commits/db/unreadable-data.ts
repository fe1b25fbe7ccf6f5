/** Whether `data` is no record's JSON, but what a relation has in place of one that is too large: the number of its bytes. */
export const IS_UNREADABLE = "pg_column_size(data) < 20 and json_typeof(data) = 'number'";

/** The bytes of a record that is too large, 0 if Postgres cannot make its JSON. Undefined: it is the JSON of a record. */
export const unreadableBytes = (data: string): number | undefined => (data.startsWith("{") ? undefined : Number(data));
