import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { type SourceProgram, sourceProgram } from "@holdfast/server/testing/source-program";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly said: string;
}

interface Running {
  /** One that does not end by itself in this time is killed. */
  readonly mostMs?: number;
  /** Instead of our own program. */
  readonly program?: SourceProgram;
}

/** Runs `holdfast` as an operator does. */
export async function holdfast(
  words: readonly string[],
  env: Readonly<Record<string, string>>,
  { mostMs = 120_000, program = sourceProgram(`${ROOT}packages/server/src/holdfast.ts`) }: Running = {},
): Promise<Ended> {
  const child = spawn(process.execPath, [...program.flags, program.file, ...words], {
    cwd: ROOT,
    env: { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "", ...env },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: mostMs,
    killSignal: "SIGKILL",
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => {
      said = (said + chunk.toString()).slice(0, 100_000);
    });
  const [code] = (await once(child, "close")) as [number | null];
  return { code, said };
}

/** The same for a command that has to work. */
export async function mustWork(words: readonly string[], databaseUrl: string, running?: Running): Promise<void> {
  const { code, said } = await holdfast(words, { DATABASE_URL: databaseUrl }, running);
  if (code !== 0) throw new Error(`holdfast ${words.join(" ")} ended with ${code}: ${said}`);
}
