import { closeCodes, FrameUp, limits } from "@holdfast/sdk/protocol";
import { checkLength } from "../../kernel/log/rules/view.ts";
import { isRefusal, type Refusal, refuse } from "../../kernel/refusal.ts";
import { parseJson } from "../payload/parse-json.ts";
import { shapeCheck } from "../payload/shape-check.ts";

export type Frame<T extends FrameUp["frame"]> = Extract<FrameUp, { frame: T }>;

/** A frame, or why it is none. */
export type ReadFrame =
  | { readonly frame: FrameUp }
  | { readonly refusal: Refusal; readonly closeCode: number }
  | { readonly closeCode: number };

const checkFrame = shapeCheck(FrameUp);
/** The standard's code for a frame that is too large. */
const TOO_LARGE_CODE = 1009;

export function readFrame(data: Buffer, isBinary: boolean): ReadFrame {
  const bad = (refusal: Refusal): ReadFrame => ({ refusal, closeCode: closeCodes.badFrame });
  if (isBinary) return bad(refuse("invalid_frame", { message: "A frame must be JSON text." }));
  if (data.length > limits.frameBytes) return { closeCode: TOO_LARGE_CODE };
  const parsed = parseJson(data, limits.frameValues);
  if (isRefusal(parsed)) return bad(parsed);
  const refusal = checkFrame(parsed.value);
  if (refusal) return bad(refuse("invalid_frame", refusal.param === undefined ? {} : { param: refusal.param }));
  const frame = parsed.value as FrameUp;
  const mistake = checkSelection(frame);
  return mistake ? bad(mistake) : { frame };
}

/** What a frame selects: parts take the place of models and conditions, which have to fit into an address. */
function checkSelection(frame: FrameUp): Refusal | undefined {
  if (frame.frame !== "hello" && frame.frame !== "follow") return undefined;
  const tooLong = checkLength(frame);
  if (tooLong) return tooLong;
  const { models, where } = frame;
  if (frame.frame === "follow" || !frame.parts || !(models || where)) return undefined;
  const message = "A hello must name either parts, or models and conditions.";
  return refuse("invalid_frame", { param: models ? "models" : "where", message });
}
