export { type Draft, type DraftOptions, type DraftState, type DraftTarget, openDraft } from "./open-draft.ts";
