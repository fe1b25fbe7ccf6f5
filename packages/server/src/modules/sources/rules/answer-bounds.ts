import { type SourceCall, sourceLimits } from "@holdfast/sdk/protocol";

/** Bytes of an answer besides its records. */
const REST = 2 ** 16;
/** Up to 10 000 names of records. */
const EVENTS = 2 ** 22;

/** Most bytes of an answer, by what was asked for: a `load` of ten records needs no 16 MiB. */
export const mostAnswerBytes = (call: SourceCall, recordBytes: number): number =>
  Math.min(sourceLimits.answerBytes, REST + bytesOf(call, recordBytes + REST));

function bytesOf(call: SourceCall, recordBytes: number): number {
  switch (call.type) {
    case "commit":
      // A service may say of each record what it made of it, and a refusal may be long.
      return recordBytes * call.commits.reduce((sum, { operations }) => sum + 1 + operations.length, 0);
    case "load":
      return recordBytes * call.ids.length;
    case "list":
      // Nothing can be asked for in place of a single record: if it is read, it is left out by itself.
      return call.limit === 1 ? sourceLimits.answerBytes : recordBytes * call.limit;
    case "events":
      return EVENTS;
  }
}
