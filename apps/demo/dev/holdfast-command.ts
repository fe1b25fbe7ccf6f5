import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { commandProgram, dataDirectory, nodeWords } from "./project.ts";

/** Runs the `holdfast` command on the demo's data, and returns what it prints. */
export async function holdfast(...words: string[]): Promise<string> {
  const env = { ...process.env, HOLDFAST_DATA_DIR: dataDirectory() };
  try {
    return (await promisify(execFile)(process.execPath, nodeWords(commandProgram, ...words), { env })).stdout.trim();
  } catch (error) {
    const { stderr = "" } = error as { stderr?: string };
    throw new Error(stderr.trim().replace(/^holdfast: /, "") || `holdfast ${words.join(" ")} failed.`, {
      cause: error,
    });
  }
}
