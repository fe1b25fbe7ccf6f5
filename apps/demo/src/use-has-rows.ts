import { useSyncStatus } from "./sync.ts";

/** Whether anything has been read yet, from the local store or the server: until then, an empty list means nothing. */
export const useHasRows = (): boolean => useSyncStatus((status) => status.name !== "starting" && status.syncId > 0);
