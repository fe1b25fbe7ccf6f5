import { resolve } from "node:path";
import type { Environment } from "./target.ts";

/** A file as it was meant where the command was typed: `npm run` goes to the project's folder first. */
export const filePath = (file: string, env: Environment): string => resolve(env.INIT_CWD ?? "", file);
