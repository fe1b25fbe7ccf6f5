import type { ClientState } from "../state.ts";

/** Also true while the tab is becoming the leader and has not read the disk yet. */
export const isFollower = ({ lead, storageTrouble }: Pick<ClientState, "lead" | "storageTrouble">): boolean =>
  lead !== "yes" && storageTrouble === undefined;
