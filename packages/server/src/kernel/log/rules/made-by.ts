import type { Attribution } from "@holdfast/sdk/protocol";
import type { StoredEntry } from "../../commits/rules/stored-entry.ts";
import { participantName } from "../../tokens/rules/participant.ts";

/** Whose entries a reader asks for. An absent member does not limit it; participants are `<kind>:<id>`. */
export interface MadeBy {
  readonly run?: string | undefined;
  readonly actor?: string | undefined;
  readonly onBehalfOf?: string | undefined;
}

export function isMadeBy(
  { run, actor, onBehalfOf }: MadeBy,
  entry: Pick<StoredEntry, "participantKind" | "actor" | "attribution">,
): boolean {
  if (actor !== undefined && participantName(entry.participantKind, entry.actor) !== actor) return false;
  if (run === undefined && onBehalfOf === undefined) return true;
  if (entry.attribution === null) return false;
  const said = JSON.parse(entry.attribution) as Attribution;
  return (run === undefined || said.run === run) && (onBehalfOf === undefined || said.onBehalfOf === onBehalfOf);
}
