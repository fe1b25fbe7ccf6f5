import { realpathSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The folder of the whole project. */
export const root = fileURLToPath(new URL("..", import.meta.url));

/**
 * Whether this module is what Node was told to run, and not imported by another.
 * @param {string} moduleUrl
 */
export const isProgram = (moduleUrl) =>
  process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(moduleUrl);
