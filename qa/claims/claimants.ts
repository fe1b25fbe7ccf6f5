import type { ParticipantKind } from "@holdfast/sdk/protocol";
import { good, type SendRequest } from "../support/requester.ts";
import type { Participant } from "./history.ts";
import { type Claimant, DECK, FIELDS, MODEL } from "./plan.ts";

/** Creates the contended records, and a token for each participant. */
export async function fillEnvironment(
  request: SendRequest,
  { claimants, records }: { readonly claimants: number; readonly records: number },
): Promise<{ readonly records: readonly string[]; readonly claimants: readonly Claimant[] }> {
  const names = Array.from({ length: records }, (_, i) => `hot${i}`);
  for (const id of names) {
    const data = { deckId: DECK, ...Object.fromEntries(FIELDS.map((field) => [field, "untouched"])) };
    good(await request("POST", `/v1/models/${MODEL}`, { id, data }));
  }
  const made: Claimant[] = [];
  for (let i = 0; i < claimants; i++) made.push(await newClaimant(request, i));
  return { records: names, claimants: made };
}

async function newClaimant(request: SendRequest, i: number): Promise<Claimant> {
  const kind: ParticipantKind = i % 10 === 3 ? "user" : i % 10 === 7 ? "system" : "agent";
  const preempts = kind !== "agent";
  const actor = `p${i}`;
  const scope = {
    operations: [`${MODEL}.*`, ...(preempts ? ["claim.preempt"] : [])],
    syncGroups: [`deck:${DECK}`],
    ttlSeconds: 86_400,
  };
  const minted = good(
    kind === "user"
      ? await request("POST", "/v1/ephemeral_keys", { ...scope, user: { id: actor } })
      : await request("POST", "/v1/capabilities", { ...scope, participantKind: kind, participantId: actor }),
  );
  return { actor, kind, preempts, token: String(minted.token), ttlMs: 1_500 + (i % 5) * 500, stream: i % 4 === 0 };
}

export const participantsOf = (claimants: readonly Claimant[]): readonly Participant[] =>
  claimants.map(({ actor, kind, ttlMs }) => ({ actor, kind, ttlMs }));
