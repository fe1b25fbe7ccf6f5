import type { RecordClaims } from "@holdfast/sdk";
import { claimWords } from "./claim-words.ts";
import { useNames } from "./people.ts";
import type { useClaim } from "./sync.ts";

interface Props {
  readonly id: string;
  readonly claim: ReturnType<typeof useClaim>;
  readonly queue: RecordClaims["queue"];
  readonly isHere: boolean;
  /** The slide is asked for past the line: whoever does so wants to write. */
  takeOver(): void;
}

/** Who edits this slide, who waits for it, and what can be done about that. */
export function ClaimBadge({ id, claim, queue, isHere, takeOver }: Props) {
  const nameOf = useNames();
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
      {words.offers === "leave-line" && (
        <button type="button" onClick={claim.release}>
          Leave the line
        </button>
      )}
    </p>
  );
}
