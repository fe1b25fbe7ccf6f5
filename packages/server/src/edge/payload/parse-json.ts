import { isUtf8 } from "node:buffer";
import { checkJsonCount } from "../../kernel/json/check-json-count.ts";
import { checkJsonValues } from "../../kernel/json/check-json-values.ts";
import { roundedNumbers } from "../../kernel/json/rounded-numbers.ts";
import { type Refusal, refuse } from "../../kernel/refusal.ts";

const JSON_IN_UTF8 = /^application\/json\s*(?:;\s*charset\s*=\s*"?utf-?8"?\s*)?$/i;

export const isJsonType = (contentType: string | undefined): boolean =>
  contentType === "application/json" || (contentType !== undefined && JSON_IN_UTF8.test(contentType.trim()));

/**
 * Parses JSON that can be stored and returned unchanged. Of duplicate keys the last one counts; a leading BOM is
 * skipped.
 */
export function parseJson(bytes: Buffer, mostValues?: number): { readonly value: unknown } | Refusal {
  if (!isUtf8(bytes)) return refuse("invalid_encoding");
  const refusal = checkJsonCount(bytes, mostValues);
  if (refusal) return refusal;
  const text = bytes.toString("utf8").replace(/^\ufeff/, "");
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return refuse("invalid_json");
  }
  let rounded: ReadonlySet<number> | undefined;
  const roundedOnce = () => {
    rounded ??= roundedNumbers(text);
    return rounded;
  };
  return checkJsonValues(value, undefined, roundedOnce) ?? { value };
}
