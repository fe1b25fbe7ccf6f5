import { resolve } from "node:path";
import type { Environment } from "./target.ts";

/** Resolves a path against the folder in which the command was typed: `npm run` changes to the project's folder first. */
export const filePath = (file: string, env: Environment): string => resolve(env.INIT_CWD ?? "", file);
