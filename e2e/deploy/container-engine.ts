import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../scripts/root.mjs";
import { readDockerfile } from "./dockerfile.ts";

/** Programs that build images and start a Compose file; or why there are none. */
export type ContainerEngine =
  | { readonly kind: "ready"; readonly engine: string }
  | { readonly kind: "missing"; readonly reason: string };

/** Docker or Podman, if it answers, can start a Compose file, and has the images that ours begin with or can pull them. */
export async function findContainerEngine(): Promise<ContainerEngine> {
  if (process.platform === "win32") return missing("on Windows engines run other containers");
  const engine = await firstThat(["docker", "podman"], (name) => succeeds(name, "info"));
  if (engine === undefined) return missing("neither docker nor podman answers");
  // The older programs docker-compose and podman-compose do not read all of the file.
  if (!(await succeeds(engine, "compose", "version"))) return missing(`there is no "${engine} compose"`);
  const isHere = async (image: string) =>
    (await succeeds(engine, "image", "inspect", image)) || (await succeeds(engine, "pull", image));
  const absent = await firstThat(baseImages(), async (image) => !(await isHere(image)));
  if (absent !== undefined) return missing(`${engine} cannot pull ${absent}`);
  return { kind: "ready", engine };
}

const missing = (reason: string): ContainerEngine => ({ kind: "missing", reason });

async function firstThat<T>(values: readonly T[], holds: (value: T) => Promise<boolean>): Promise<T | undefined> {
  for (const value of values) if (await holds(value)) return value;
  return undefined;
}

/** `docker info` ends with 0 in some versions although no engine answers, but says so. */
function succeeds(program: string, ...args: string[]): Promise<boolean> {
  return new Promise((resolve) => {
    execFile(program, args, { encoding: "utf8", timeout: 300_000 }, (error, stdout, stderr) =>
      resolve(error === null && !/cannot connect/i.test(`${stdout}${stderr}`)),
    );
  });
}

function baseImages(): string[] {
  const stages = readDockerfile(readFileSync(join(root, "deploy/Dockerfile"), "utf8"));
  const compose = readFileSync(join(root, "deploy/compose.yaml"), "utf8");
  const named = [...compose.matchAll(/^ +image: (\S+)$/gm)].map(([, image = ""]) => image);
  const pulled = [...stages.map(({ image }) => image), ...named].filter((image) => image !== "holdfast-server");
  return [...new Set(pulled)].map((image) => (image.includes("/") ? image : `docker.io/library/${image}`));
}
