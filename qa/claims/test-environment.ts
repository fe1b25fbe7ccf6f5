import type { ParticipantKind } from "@holdfast/sdk/protocol";
import type { Participant } from "./history.ts";
import { type Claimant, DECK, FIELDS, MODEL } from "./plan.ts";

/** Creates the contended records, and a token for each participant. */
export async function fillEnvironment(
  url: string,
  key: string,
  { claimants, records }: { readonly claimants: number; readonly records: number },
): Promise<{ readonly records: readonly string[]; readonly claimants: readonly Claimant[] }> {
  const names = Array.from({ length: records }, (_, i) => `hot${i}`);
  for (const id of names) {
    const data = { deckId: DECK, ...Object.fromEntries(FIELDS.map((field) => [field, "untouched"])) };
    await post(url, key, `/v1/models/${MODEL}`, { id, data });
  }
  const made: Claimant[] = [];
  for (let i = 0; i < claimants; i++) made.push(await newClaimant(url, key, i));
  return { records: names, claimants: made };
}

async function newClaimant(url: string, key: string, i: number): Promise<Claimant> {
  const kind: ParticipantKind = i % 10 === 3 ? "user" : i % 10 === 7 ? "system" : "agent";
  const preempts = kind !== "agent";
  const actor = `p${i}`;
  const scope = {
    operations: [`${MODEL}.*`, ...(preempts ? ["claim.preempt"] : [])],
    syncGroups: [`deck:${DECK}`],
    ttlSeconds: 86_400,
  };
  const minted =
    kind === "user"
      ? await post(url, key, "/v1/ephemeral_keys", { ...scope, user: { id: actor } })
      : await post(url, key, "/v1/capabilities", { ...scope, participantKind: kind, participantId: actor });
  return { actor, kind, preempts, token: String(minted.token), ttlMs: 1_500 + (i % 5) * 500, stream: i % 4 === 0 };
}

export const participantsOf = (claimants: readonly Claimant[]): readonly Participant[] =>
  claimants.map(({ actor, kind, ttlMs }) => ({ actor, kind, ttlMs }));

export async function post(url: string, token: string, path: string, body: object): Promise<Record<string, unknown>> {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const answer = await fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${text}`);
  return JSON.parse(text) as Record<string, unknown>;
}
