import type { Conflict } from "@holdfast/sdk";
import { useRecord } from "../sync.ts";
import { slideName } from "./conflict-words.ts";

export const useSlideName = (conflict: Conflict): string =>
  slideName(
    conflict,
    useRecord("slide", conflict.id, (slide) => slide.title),
  );
