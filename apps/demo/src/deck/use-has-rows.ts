import { useSyncStatus } from "../sync.ts";

/** Whether anything has been read yet, from the local store or the server: until then, an empty list means nothing. */
export const useHasRows = (): boolean =>
  useSyncStatus(({ name, syncId }) => name === "online" || (name !== "starting" && syncId > 0));
