import type { JsonObject } from "../../protocol/json.ts";
import type { NewOperation } from "../events.ts";
import type { ClientState } from "../state.ts";
import { pick } from "./conflict.ts";
import { shownRow } from "./overlay.ts";

/** The values that the user saw when writing, stored with the write so that a conflict can show all three sides. */
export function baseOf(state: ClientState, { action, model, id, data = {} }: NewOperation): JsonObject | null {
  if (action === "create") return null;
  const shown = shownRow(state, { model, id })?.data;
  if (!shown) return null;
  return action === "update" ? pick(shown, Object.keys(data)) : shown;
}
