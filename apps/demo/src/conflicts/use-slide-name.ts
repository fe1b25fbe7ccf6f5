import type { Conflict } from "@holdfast/sdk";
import { slideName } from "./conflict-words.ts";
import { useRecord } from "./sync.ts";

export const useSlideName = (conflict: Conflict): string =>
  slideName(
    conflict,
    useRecord("slide", conflict.id, (slide) => slide.title),
  );
