import { recordSizeProblem } from "@holdfast/sdk/protocol";
import { type Refusal, refuse } from "../../refusal.ts";

/** Checks that a record's JSON is at most this long in UTF-8. */
export function checkRecordSize(text: string, most: number): Refusal | undefined {
  // A code unit takes at most three bytes, so most records need no exact count.
  if (3 * text.length <= most) return undefined;
  const problem = recordSizeProblem(text, most, bytesInUtf8);
  return problem && refuse(problem.code, { param: problem.param, message: problem.message });
}

export function bytesInUtf8(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i);
    // Each half of a surrogate pair accounts for two of its four bytes.
    if (unit >= 0x80) bytes += unit >= 0x800 && (unit < 0xd800 || unit > 0xdfff) ? 2 : 1;
  }
  return bytes;
}
