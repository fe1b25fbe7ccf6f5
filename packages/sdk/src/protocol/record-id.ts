import { clientLimits as limits } from "./client-limits.ts";

/** `.` and `..` cannot stand in a path. */
const ID = new RegExp(`^(?!\\.\\.?$)[\\w.:~-]{1,${limits.idLength}}$`);

export const isRecordId = (id: unknown): id is string => typeof id === "string" && ID.test(id);
