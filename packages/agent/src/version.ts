import { readFileSync } from "node:fs";

/** Of this package, as its manifest has it: beside `src` in the workspace, beside `dist` when it is published. */
export const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
  version: string;
};
