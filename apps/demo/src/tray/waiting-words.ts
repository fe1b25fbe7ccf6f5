import type { PendingMutation } from "@holdfast/sdk";
import { fieldName, valueWords } from "../conflicts/conflict-words.ts";

export interface Waiting {
  readonly key: string;
  readonly says: string;
  readonly state: string;
}

type Operation = PendingMutation["operations"][number];

const states: Readonly<Record<PendingMutation["phase"], string>> = {
  saving: "being saved here",
  queued: "saved here",
  sending: "on its way",
  confirmed: "arrived",
  blocked: "waits for a decision",
};

/** One pending write, as a row of the queue. `titleOf` gives a slide's title by its id. */
export function waitingWords(mutation: PendingMutation, titleOf: (id: string) => string | undefined): Waiting {
  const { clientTxId: key, operations, phase } = mutation;
  const [first] = operations;
  const more = operations.length > 1 ? `, and ${operations.length - 1} more` : "";
  return { key, says: first ? `${what(first, titleOf)}${more}` : "", state: states[phase] };
}

function what({ action, id, data }: Operation, titleOf: (id: string) => string | undefined): string {
  const title = (valueWords(data?.title) || titleOf(id) || "").trim();
  const name = title ? `“${title}”` : "a slide";
  switch (action) {
    case "create":
      return `Add ${name}`;
    case "update":
      return `Change the ${Object.keys(data ?? {})
        .map(fieldName)
        .join(" and ")} of ${name}`;
    case "delete":
      return `Delete ${name}`;
    case "archive":
      return `Put ${name} away`;
    case "unarchive":
      return `Bring ${name} back`;
  }
}
