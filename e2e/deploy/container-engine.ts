import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../scripts/root.mjs";
import { readDockerfile } from "./dockerfile.ts";

/** Programs that build images and start a Compose file; or why there are none. */
export type ContainerEngine =
  | { readonly kind: "ready"; readonly engine: string; readonly compose: readonly string[] }
  | { readonly kind: "missing"; readonly reason: string };

/** Docker or Podman, if it answers, can start a Compose file, and has the images that ours begin with or can pull them. */
export function findContainerEngine(): ContainerEngine {
  if (process.platform === "win32") return missing("on Windows engines run other containers");
  const engine = ["docker", "podman"].find((name) => succeeds(name, "info"));
  if (engine === undefined) return missing("neither docker nor podman answers");
  const compose = [
    [engine, "compose"],
    [`${engine}-compose`, ""],
  ].find(([program = "", word = ""]) => succeeds(program, ...[word, "version"].filter(Boolean)));
  if (compose === undefined) return missing(`${engine} has no compose command`);
  const absent = baseImages().find(
    (image) => !succeeds(engine, "image", "inspect", image) && !succeeds(engine, "pull", image),
  );
  if (absent !== undefined) return missing(`${engine} cannot pull ${absent}`);
  return { kind: "ready", engine, compose: compose.filter(Boolean) };
}

const missing = (reason: string): ContainerEngine => ({ kind: "missing", reason });

/** `docker info` ends with 0 although no engine answers, but then says so in its errors. */
function succeeds(program: string, ...args: string[]): boolean {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: "utf8", timeout: 120_000 });
  return status === 0 && !/cannot connect/i.test(`${stdout}${stderr}`);
}

function baseImages(): string[] {
  const stages = readDockerfile(readFileSync(join(root, "deploy/Dockerfile"), "utf8"));
  const compose = readFileSync(join(root, "deploy/compose.yaml"), "utf8");
  const named = [...compose.matchAll(/^ +image: (\S+)$/gm)].map(([, image = ""]) => image);
  const pulled = [...stages.map(({ image }) => image), ...named].filter((image) => image !== "holdfast-server");
  return [...new Set(pulled)].map((image) => (image.includes("/") ? image : `docker.io/library/${image}`));
}
