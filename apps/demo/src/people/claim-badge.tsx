import { type useClaim, useClaims } from "../sync.ts";
import { claimWords } from "./claim-words.ts";
import { useNames } from "./people.ts";

interface Props {
  readonly id: string;
  readonly slideId: string;
  readonly claim: ReturnType<typeof useClaim>;
  readonly isHere: boolean;
  /** Takes the slide from its holder, ahead of the waiters, to write in it. */
  takeOver(): void;
}

/** Who edits this slide, who waits for it, and what can be done about that. */
export function ClaimBadge(props: Props) {
  const { holder, status } = props.claim;
  // A free slide has no badge. Most slides are free, so they need not subscribe to their waiters.
  return holder || status === "mine" ? <Badge {...props} /> : null;
}

function Badge({ id, slideId, claim, isHere, takeOver }: Props) {
  const nameOf = useNames();
  const { queue } = useClaims("slide", [slideId])[slideId] ?? NO_CLAIMS;
  const words = claimWords({ ...claim, queue, isHere, nameOf });
  if (!words) return null;
  return (
    <p className="claim" id={id} data-kind={claim.holder?.participantKind} data-status={claim.status}>
      <span className="dot" aria-hidden="true" />
      <span role="status">{words.says}</span>
      {words.offers === "take-over" && (
        <button type="button" onClick={takeOver}>
          Take over
        </button>
      )}
      {words.offers === "wait" && (
        <button type="button" onClick={claim.claim}>
          Wait in line
        </button>
      )}
      {words.offers === "let-go" && (
        <button type="button" onClick={claim.release}>
          Let go
        </button>
      )}
      {words.offers === "leave-queue" && (
        <button type="button" onClick={claim.release}>
          Leave the line
        </button>
      )}
    </p>
  );
}

const NO_CLAIMS = { queue: [] } as const;
