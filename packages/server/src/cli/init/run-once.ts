import { spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { UsageError } from "../usage-error.ts";

const MAIN = fileURLToPath(import.meta.url).replace(/cli[/\\]init[/\\]run-once(\.[jt]s)$/, "main$1");

interface Where {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
}

/** See `Terminal`. */
export async function runOnce(file: string, { folder, env }: Where): Promise<string | undefined> {
  if (!canImport("@holdfast/sdk/node", folder)) return undefined;
  const options = { cwd: folder, env: { ...process.env, ...env, PORT: "0", HOLDFAST_LOG_LEVEL: "error" } };
  const server = spawn(process.execPath, [...process.execArgv, MAIN], {
    ...options,
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    const url = await listening(server.stdout);
    const program = spawn(process.execPath, [...process.execArgv, file, "once"], {
      ...options,
      env: { ...options.env, HOLDFAST_URL: url },
      stdio: ["ignore", "pipe", "inherit"],
    });
    let printed = "";
    program.stdout.on("data", (chunk: Buffer) => {
      printed += chunk.toString();
    });
    const [code] = await once(program, "close");
    if (code !== 0) throw new UsageError(`${file} ended with ${code}.`);
    return printed;
  } finally {
    const ended = server.exitCode === null && once(server, "close");
    server.kill();
    await ended;
  }
}

function canImport(name: string, folder: string): boolean {
  try {
    createRequire(join(folder, "package.json")).resolve(name);
    return true;
  } catch (error) {
    // There, and only for `import`.
    return (error as NodeJS.ErrnoException).code === "ERR_PACKAGE_PATH_NOT_EXPORTED";
  }
}

async function listening(output: AsyncIterable<Buffer>): Promise<string> {
  let text = "";
  for await (const chunk of output) {
    text += chunk.toString();
    if (text.includes("\n")) return (JSON.parse(text) as { url: string }).url;
  }
  throw new UsageError("The server did not start.");
}
