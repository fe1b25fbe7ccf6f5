import { join } from "node:path";
import { ending, runIn } from "./run-command.ts";

export interface InstalledServer {
  readonly url: string;
  readonly ended: ReturnType<typeof ending>;
  stop(): void;
}

/** The program `holdfast` of a folder that the packages are installed in. */
export const holdfastIn = (folder: string): string => join(folder, "node_modules", ".bin", "holdfast");

/** Starts the server in a folder like a user, by default on a free port. */
export async function startInstalled(
  program: string,
  folder: string,
  port = "0",
  words: readonly string[] = [],
): Promise<InstalledServer> {
  const server = runIn(folder, program, words, { PORT: port });
  const ended = ending(server);
  const url = await new Promise<string>((resolve, reject) => {
    server.stdout?.once("data", (line: Buffer) => resolve(JSON.parse(line.toString()).url));
    void ended.then(({ output }) => reject(new Error(`The server ended: ${output}`)));
  });
  return { url, ended, stop: () => void server.kill("SIGTERM") };
}
