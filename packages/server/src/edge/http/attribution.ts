import type { IncomingHttpHeaders } from "node:http";
import { type Attribution, attributionOf, attributionProblem, headers } from "@holdfast/sdk/protocol";
import { isRefusal, type Refusal, refuse } from "../../kernel/refusal.ts";

const HEADERS = { reason: headers.reason, run: headers.run, onBehalfOf: headers.onBehalfOf } as const;

/** What headers say of why a write is made, as they came. */
export type AttributionHeaders = { readonly [key in keyof typeof HEADERS]?: string };

/** Undefined: they say nothing. */
export function attributionHeaders(sent: IncomingHttpHeaders): AttributionHeaders | undefined {
  const [reason, run, onBehalfOf] = [sent[HEADERS.reason], sent[HEADERS.run], sent[HEADERS.onBehalfOf]];
  if (reason === undefined && run === undefined && onBehalfOf === undefined) return undefined;
  return attributionOf({ reason, run, onBehalfOf }) as AttributionHeaders;
}

/** Why a commit is made, by its body and headers. Both and different is refused, as with keys. */
export function readAttribution(
  sent: AttributionHeaders | undefined,
  body: Attribution,
): { readonly attribution: Attribution | undefined } | Refusal {
  const said = sent && decoded(sent, body);
  if (said && isRefusal(said)) return said;
  const attribution = attributionOf({ ...said, ...attributionOf(body) });
  const problem = attribution && attributionProblem(attribution, Buffer.byteLength);
  return problem ? refuse("invalid_value", problem) : { attribution };
}

function decoded(sent: AttributionHeaders, body: Attribution): AttributionHeaders | Refusal {
  const said: { -readonly [key in keyof AttributionHeaders]: string } = {};
  for (const key of Object.keys(HEADERS) as (keyof typeof HEADERS)[]) {
    const text = sent[key];
    if (text === undefined) continue;
    const value = percentDecoded(text);
    if (value === undefined)
      return refuse("invalid_value", {
        param: HEADERS[key],
        message: `The header ${HEADERS[key]} must be UTF-8, percent-encoded where it is not ASCII.`,
      });
    if (body[key] !== undefined && body[key] !== value)
      return refuse("invalid_value", {
        param: key,
        message: `The header ${HEADERS[key]} and "${key}" in the body must be the same.`,
      });
    said[key] = value;
  }
  return said;
}

/** Undefined: it is not ASCII, or not encoded UTF-8. */
function percentDecoded(text: string): string | undefined {
  if (!/^[\x20-\x7e]*$/.test(text)) return undefined;
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
