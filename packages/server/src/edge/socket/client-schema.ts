import { closeCodes } from "@holdfast/sdk/protocol";
import type { CurrentLog, FollowLog } from "../../kernel/log/flows/follow-log.ts";
import type { View, ViewRequest } from "../../kernel/log/rules/view.ts";
import { isRefusal, type Refusal, refuse } from "../../kernel/refusal.ts";
import { asItIs, type ClientSchemas, type SpokenSchema } from "../../kernel/schema/flows/client-schemas.ts";
import { readSaid, type SaidSchema } from "../../kernel/schema/rules/client-names.ts";
import { whereIn } from "../../kernel/schema/rules/translate.ts";
import { viewOfRequest } from "../../kernel/stream/log-reader.ts";
import type { Principal } from "../../kernel/tokens/rules/participant.ts";

/* A client says with its hello which schema it was built with. What it sends and gets is under the names of that one. */

/** The schema that a hello names, if it names one. */
export const saidIn = ({ schema }: { readonly schema?: string | undefined }): SaidSchema | Refusal | undefined =>
  schema === undefined ? undefined : (readSaid(schema) ?? refuse("invalid_frame", { param: "schema" }));

/** The head of a log, its schema, and what a client calls its fields. */
export async function currentFor(
  said: SaidSchema | undefined,
  tenant: number,
  log: FollowLog,
  schemas: ClientSchemas,
): Promise<CurrentLog & { readonly spoken: SpokenSchema | Refusal }> {
  let known: { readonly version: number; readonly spoken: SpokenSchema | Refusal } | undefined;
  for (;;) {
    const current = await log.current(tenant);
    const { schema } = current;
    // Nothing may be awaited after the head was read: a push would be missed.
    if (!said) return { ...current, spoken: asItIs(schema) };
    if (known?.version === schema.version) return { ...current, spoken: known.spoken };
    const spoken = schemas.under(tenant, schema, said);
    if (!(spoken instanceof Promise)) return { ...current, spoken };
    known = { version: schema.version, spoken: await spoken };
  }
}

/** What a reader asks for, under the current names, and the view for it. */
export interface Asked {
  readonly spoken: SpokenSchema;
  readonly requested: ViewRequest;
  readonly view: View;
}

/** A request under the current names. */
export const requestUnder = ({ names }: SpokenSchema, { models, groups, where }: ViewRequest): ViewRequest => ({
  ...{ models, groups, where: names && where ? whereIn(names, where) : where },
});

export function askedUnder(
  spoken: SpokenSchema | Refusal,
  principal: Principal,
  { models, groups, where }: ViewRequest,
): Asked | { readonly refusal: Refusal; readonly closeCode: number } {
  if (isRefusal(spoken)) return { refusal: spoken, closeCode: closeCodes.badFrame };
  const requested = requestUnder(spoken, { models, groups, where });
  const view = viewOfRequest(principal, requested);
  return "refusal" in view ? view : { spoken, requested, view };
}
