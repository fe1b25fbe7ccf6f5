import { clientLimits as limits } from "./client-limits.ts";

const ID = new RegExp(`^[A-Za-z0-9_.:~-]{1,${limits.idLength}}$`);

/** `.` and `..` cannot stand in a path. */
export const isRecordId = (id: unknown): id is string => typeof id === "string" && ID.test(id) && !/^\.\.?$/.test(id);
