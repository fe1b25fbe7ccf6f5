import type { Json, JsonObject } from "../../protocol/json.ts";
import { ownValue } from "../../protocol/own-value.ts";

/** The value of a field, or of what the server knows of a record: those names start with `$` and are inherited. */
export const valueIn = (data: JsonObject, name: string): Json | undefined =>
  name[0] === "$" ? data[name] : ownValue(data, name);
