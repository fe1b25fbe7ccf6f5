import { isUtf8 } from "node:buffer";
import { Call, limits } from "@holdfast/sdk/protocol";
import { checkJsonCount } from "../../kernel/json/check-json-count.ts";
import { checkJsonValues } from "../../kernel/json/check-json-values.ts";
import { roundedNumbers } from "../../kernel/json/rounded-numbers.ts";
import { type Refusal, refuse } from "../../kernel/refusal.ts";
import { shapeCheck } from "../payload/shape-check.ts";

/** A call, or why it is none, by its number. */
export type ReadCall = { readonly n: number } & ({ readonly call: Call } | { readonly refusal: Refusal });

const checkShape = shapeCheck(Call);
/** Names as the client of the reference sends them, first. Others are found once the frame is parsed. */
const BEGINS = Buffer.from('{"frame":"call"');
/** The frame is one level more than its body. */
const SHAPE = { depth: limits.jsonDepth + 1, keys: limits.keysPerObject };

/**
 * Reads a frame if it is a call. What is wrong with its body is said as over HTTP, and ends nothing else. Undefined:
 * another frame, or none.
 */
export function readCall(data: Buffer): ReadCall | undefined {
  if (!mayBeCall(data) || !isUtf8(data)) return undefined;
  const count = checkJsonCount(data, limits.jsonValues, SHAPE);
  const text = data.toString("utf8");
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const { frame, n } = (value ?? {}) as { readonly frame?: unknown; readonly n?: unknown };
  if (frame !== "call" || !Number.isSafeInteger(n) || (n as number) < 0) return undefined;
  const refusal =
    (data.length > limits.frameBytes ? TOO_LARGE : undefined) ??
    count ??
    checkShape(value) ??
    checkJsonValues((value as Call).body ?? null, undefined, () => roundedNumbers(text));
  return { n: n as number, ...(refusal ? { refusal } : { call: value as Call }) };
}

/** Most frames are others: they are not parsed twice. */
export function mayBeCall(data: Buffer): boolean {
  return data.subarray(0, BEGINS.length).equals(BEGINS) || data.subarray(0, HEAD).includes('"call"');
}
const HEAD = 4_096;

const TOO_LARGE = refuse("request_too_large", {
  message: `A frame can have up to ${limits.frameBytes} bytes. Send this request over HTTP.`,
});
