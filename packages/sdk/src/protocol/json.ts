/** Any value that JSON can carry. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject;

/** A JSON object: the shape of a record's `data`. */
export interface JsonObject {
  readonly [key: string]: Json;
}
