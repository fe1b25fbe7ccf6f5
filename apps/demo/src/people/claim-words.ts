import type { RecordClaims, SeenClaim } from "@holdfast/sdk";

/** How a window stands to a slide, as far as it has to be said. */
export type ClaimWords =
  | { readonly says: string; readonly offers: "wait" | "take-over" | "leave-queue" | "let-go" | "nothing" }
  | undefined;

interface Asked {
  readonly status: "free" | "mine" | "waiting" | "theirs" | "lost" | "unknown";
  readonly holder: SeenClaim | undefined;
  readonly position: number | undefined;
  readonly queue: RecordClaims["queue"];
  /** Whether this window is at one of its fields. */
  readonly isHere: boolean;
  nameOf(participant: string): string;
}

const participantOf = ({ participantKind, actor }: SeenClaim): string => `${participantKind}:${actor}`;

/** The sentence on a slide's card about who edits it and who waits. Undefined: none is shown. */
export function claimWords({ status, holder, position, queue, isHere, nameOf }: Asked): ClaimWords {
  const others = queue.filter((claim) => !claim.isMine).map((claim) => nameOf(participantOf(claim)));
  const behind = others.length > 0 ? ` ${capital(listed(others))} ${others.length === 1 ? "waits" : "wait"}.` : "";
  switch (status) {
    case "theirs":
      if (!holder) return undefined;
      return {
        says: doing(holder, nameOf) + behind,
        offers: holder.participantKind === "agent" ? "take-over" : "wait",
      };
    case "waiting":
      // Without a connection the queue is unknown; the person can edit then.
      if (!holder || holder.isMine || position === undefined) return undefined;
      return { says: `${doing(holder, nameOf)} ${place(position)}`, offers: "leave-queue" };
    case "mine":
      // It was waited for, and came while its owner was elsewhere.
      if (!isHere) return { says: `It is your turn.${behind}`, offers: "let-go" };
      return behind ? { says: `You are editing.${behind}`, offers: "nothing" } : undefined;
    case "lost":
      return holder && !holder.isMine ? { says: doing(holder, nameOf) + behind, offers: "wait" } : undefined;
    default:
      return undefined;
  }
}

/** Whether its text is read-only, because another participant is known to hold it. */
export const isLocked = ({ status, holder }: Pick<Asked, "status" | "holder">): boolean =>
  status === "theirs" || (holder !== undefined && !holder.isMine && status !== "mine");

function doing(claim: SeenClaim, nameOf: Asked["nameOf"]): string {
  const name = capital(nameOf(participantOf(claim)));
  return claim.description ? `${name}: ${claim.description}.` : `${name} is editing.`;
}

const place = (position: number): string =>
  position === 0 ? "You are next." : `You are number ${position + 1} in the line.`;

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const listed = (words: readonly string[]): string =>
  words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
