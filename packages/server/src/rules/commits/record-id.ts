import { limits } from "@holdfast/sdk/protocol";

const ID = new RegExp(`^[A-Za-z0-9_.:~-]{1,${limits.idLength}}$`);

export const isRecordId = (id: string): boolean => ID.test(id) && id !== "." && id !== "..";
