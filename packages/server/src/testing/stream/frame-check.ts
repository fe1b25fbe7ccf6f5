import { FrameDown } from "@holdfast/sdk/protocol";
import { Ajv } from "ajv";
import type { TSchema } from "typebox";

const ajv = new Ajv({ strict: false });
const checks = new Map(FrameDown.anyOf.map((schema) => [schema.properties.frame.const, ajv.compile(closed(schema))]));

/**
 * What is wrong with a frame that the server sent; undefined: it is as its schema says. Clients ignore keys that they do
 * not know. Here such a key is a fault: it would be on the wire without being in the protocol.
 */
export function frameFault(frame: unknown): string | undefined {
  const name = (frame as Partial<FrameDown> | null)?.frame;
  const check = name && checks.get(name);
  if (!check) return `There is no frame "${name}" in protocol/stream/frames-down.ts.`;
  if (check(frame)) return undefined;
  return `The frame "${name}" does not fit protocol/stream/frames-down.ts: ${ajv.errorsText(check.errors, { dataVar: name })}.`;
}

/** The same schema, in which each object has only the properties that it names. */
function closed(schema: TSchema): object {
  return JSON.parse(JSON.stringify(schema), (_key, value) =>
    value?.type === "object" && value.properties ? { ...value, additionalProperties: false } : value,
  );
}
