import { type Static, Type } from "typebox";

/** A record that a page leaves out: its row is larger than can be read. It counts as a record of the page. */
export const UnreadableRecord = Type.Object({
  model: Type.String(),
  id: Type.String(),
  /** How large it is, and what to do. */
  message: Type.String(),
});
export type UnreadableRecord = Static<typeof UnreadableRecord>;
