import { setTimeout as pause } from "node:timers/promises";
import type { Claim } from "@holdfast/sdk/protocol";
import type { SeededRandom } from "../support/seeded-random.ts";
import { type Answer, momentNow, type Recorder, type ShownClaim, type What } from "./history.ts";
import type { Plan } from "./plan.ts";

export interface Request {
  readonly method: string;
  readonly path: string;
  readonly body?: object;
  /** How long the server may take on purpose. */
  readonly waitMs?: number;
}

/** Sends a request and records it. Undefined: its outcome is unknown. */
export type SendRequest = (
  who: { actor: string; token: string },
  what: What,
  request: Request,
) => Promise<Answer | undefined>;

const PATIENCE_MS = 10_000;
const AWAY_MS = 100;

/** Sends each request to a random server, because claims are the same on all. Counts the responses. */
export function createRecordingClient(
  plan: Plan,
  recorder: Recorder,
  chance: SeededRandom,
): { readonly request: SendRequest; count(): number } {
  let asked = 0;
  let answered = 0;
  const request: SendRequest = async ({ actor, token }, what, { method, path, body, waitMs = 0 }) => {
    const id = `${plan.name}#${++asked}`;
    const url = chance.oneOf(plan.urls);
    recorder.asked({ id, actor, what, asked: momentNow() });
    try {
      const response = await fetch(`${url}${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, ...(body && { "content-type": "application/json" }) },
        ...(body && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(PATIENCE_MS + waitMs),
      });
      const answer = answerOf(response.status, await response.json());
      recorder.answered(id, momentNow(), answer);
      answered += 1;
      return answer;
    } catch {
      // No response, or half of one. Wait before the next request to an unreachable server.
      await pause(AWAY_MS + chance.below(AWAY_MS));
      return undefined;
    }
  };
  return { request, count: () => answered };
}

function answerOf(status: number, body: unknown): Answer {
  const { object, code, lastSyncId, claims, data } = body as Readonly<Record<string, unknown>>;
  const shown = object === "claim" ? [body] : object === "list" ? data : claims;
  return {
    status,
    claims: (Array.isArray(shown) ? (shown as Claim[]) : []).map(shownClaim),
    ...(typeof code === "string" && { code }),
    ...(status >= 400 && Array.isArray(claims) && { holders: claims.length }),
    ...(typeof lastSyncId === "number" && { lastSyncId }),
  };
}

export const shownClaim = (claim: Claim): ShownClaim => ({
  id: claim.id,
  actor: claim.actor,
  record: claim.target.id,
  ...(claim.field !== undefined && { field: claim.field }),
  status: claim.status,
  ...(claim.fence !== undefined && { fence: claim.fence }),
  ...(claim.position !== undefined && { position: claim.position }),
  createdAt: Date.parse(claim.createdAt),
  ...(claim.expiresAt !== undefined && { expiresAt: Date.parse(claim.expiresAt) }),
});
