import { readFileSync } from "node:fs";

/**
 * The version in this package's manifest, which is next to `src` in the workspace and next to `dist` when published.
 */
export const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
  version: string;
};
