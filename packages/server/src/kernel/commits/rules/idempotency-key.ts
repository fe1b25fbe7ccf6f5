import { limits } from "@holdfast/sdk/protocol";
import { type Refusal, refuse } from "../../refusal.ts";

const VISIBLE = new RegExp(`^[\\x21-\\x7e]{1,${limits.keyLength}}$`);

/** 1 to 255 visible ASCII characters: a valid key or commit name. */
export const isVisibleName = (text: string): boolean => VISIBLE.test(text);

/** The key from a request's header (optionally in double quotes) or body. Two different keys are an error. */
export function requestKey(
  header: string | undefined,
  body: string | undefined,
): { key: string | undefined } | Refusal {
  const fromHeader = header === undefined ? undefined : unquoted(header);
  if (fromHeader !== undefined && !isVisibleName(fromHeader)) return refuse("invalid_idempotency_key");
  if (body !== undefined && !isVisibleName(body)) return refuse("invalid_idempotency_key", { param: "idempotencyKey" });
  if (fromHeader !== undefined && body !== undefined && fromHeader !== body)
    return refuse("idempotency_key_mismatch", { param: "idempotencyKey" });
  return { key: fromHeader ?? body };
}

const unquoted = (header: string): string =>
  header.length >= 2 && header.startsWith('"') && header.endsWith('"') ? header.slice(1, -1) : header;
