import type { RecordClaims } from "@holdfast/sdk";
import type { ReactElement } from "react";
import { useClaims } from "../../hooks/use-claims.ts";
import { useConflicts } from "../../hooks/use-conflicts.ts";
import { usePending } from "../../hooks/use-pending.ts";
import { SEEN_AT_MOST } from "../view.ts";

/** Watches the claims only while it is shown. */
export function ClaimsTab({ records }: { records: readonly (readonly [model: string, id: string])[] }): ReactElement {
  const written = usePending((pending) =>
    pending.slice(0, SEEN_AT_MOST).flatMap(({ operations }) => operations.map(({ model, id }) => `${model} ${id}`)),
  );
  const disputed = useConflicts((conflicts) => conflicts.map(({ model, id }) => `${model} ${id}`));
  const idsByModel = new Map<string, Set<string>>();
  for (const [model, id] of [...[...disputed, ...written].map(parts), ...records])
    idsByModel.set(model, (idsByModel.get(model) ?? new Set()).add(id));
  return (
    <>
      <p>Of the records that the app names to this panel, and of those that writes wait for.</p>
      {idsByModel.size === 0 && <p>There are none.</p>}
      {[...idsByModel].map(([model, ids]) => (
        <ClaimsOf key={model} model={model} ids={[...ids]} />
      ))}
    </>
  );
}

function parts(key: string): [string, string] {
  const at = key.indexOf(" ");
  return [key.slice(0, at), key.slice(at + 1)];
}

function ClaimsOf({ model, ids }: { model: string; ids: readonly string[] }): ReactElement {
  const watched = ids.slice(0, SEEN_AT_MOST);
  const claims = useClaims(model, watched);
  const isClaimed = (id: string) => (claims[id]?.holders.length ?? 0) > 0;
  const idsByAnswer = new Map<string, string[]>();
  for (const id of watched.filter((each) => !isClaimed(each))) {
    const says = describeClaims(claims[id]);
    idsByAnswer.set(says, [...(idsByAnswer.get(says) ?? []), id]);
  }
  return (
    <>
      <ul>
        {watched.filter(isClaimed).map((id) => (
          <li key={id}>
            <h3>
              {model} {id}
            </h3>
            <p>{describeClaims(claims[id])}</p>
          </li>
        ))}
        {[...idsByAnswer].map(([says, alike]) => (
          <li key={says}>
            <h3>{says}</h3>
            <p>
              {model} {alike.join(", ")}
            </p>
          </li>
        ))}
      </ul>
      {ids.length > SEEN_AT_MOST && (
        <p>
          Of model {model}, {ids.length - SEEN_AT_MOST} more are not asked about.
        </p>
      )}
    </>
  );
}

const IGNORANCE: Record<NonNullable<RecordClaims["why"]>, string> = {
  "not-watched": "Unknown: not watched.",
  connection: "Unknown: there is no connection.",
  asking: "Unknown: the server has not answered, or has no such record.",
  "too-many": "Unknown: too many records are watched.",
  denied: "Unknown: the token may not read them.",
};

function describeClaims(claims: RecordClaims | undefined): string {
  if (!claims || claims.state === "unknown") return IGNORANCE[claims?.why ?? "not-watched"];
  if (claims.holders.length === 0) return "Free";
  const held = claims.holders.map(({ actor, participantKind, field, description, isMine, fence }) => {
    const what = field === undefined ? "it" : field;
    const about = description ? `: ${description}` : "";
    return `${isMine ? "This participant" : `${participantKind}:${actor}`} holds ${what} (fence ${fence})${about}.`;
  });
  const waiting = claims.queue.map(({ actor, participantKind }) => `${participantKind}:${actor}`);
  return [...held, ...(waiting.length > 0 ? [`Waiting: ${waiting.join(", ")}.`] : [])].join(" ");
}
