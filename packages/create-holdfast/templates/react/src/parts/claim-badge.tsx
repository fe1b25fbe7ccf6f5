import type { ClaimState } from "@holdfast/react";

/** Says that another participant edits a record, or that one's own claim on it was lost. Yours to change. */
export function ClaimBadge({ id, claim: { status, holder } }: { id: string; claim: ClaimState }) {
  return (
    <span id={id} className="badge" aria-live="polite">
      {status === "theirs" && (holder?.description ?? `${holder?.actor ?? "Someone"} is editing`)}
      {status === "lost" && "Others can edit this again"}
    </span>
  );
}
