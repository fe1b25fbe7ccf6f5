import { readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";

/** As V8 writes it. Times are in microseconds. */
interface CpuProfile {
  readonly nodes: readonly { readonly id: number; readonly callFrame: { functionName: string; url: string } }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

const SHOWN = 25;

/** Keeps the profile of the main thread that a program has left in a folder, under this name. Returns its path. */
export function keepProfile(folder: string, name: string): string {
  const written = readdirSync(folder).filter((file) => file.startsWith("CPU."));
  const path = join(folder, `${name}.cpuprofile`);
  // CPU.<date>.<time>.<process>.<thread>.<number>.cpuprofile; the main thread is 0.
  for (const file of written)
    if (file.split(".")[4] === "0") renameSync(join(folder, file), path);
    else rmSync(join(folder, file));
  return path;
}

/** Which files spent the time: the largest first, with their milliseconds and share of the time that the thread worked. */
export function profileByFile(path: string): string[] {
  const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(path, "utf8")) as CpuProfile;
  const fileOf = new Map(nodes.map(({ id, callFrame }) => [id, shortName(callFrame)]));
  const spent = new Map<string, number>();
  for (const [i, id] of samples.entries()) {
    const file = fileOf.get(id) ?? "";
    spent.set(file, (spent.get(file) ?? 0) + (timeDeltas[i] ?? 0));
  }
  spent.delete("(idle)");
  const all = [...spent.values()].reduce((sum, one) => sum + one, 0);
  return [...spent]
    .sort(([, a], [, b]) => b - a)
    .slice(0, SHOWN)
    .map(
      ([file, us]) =>
        `${(us / 1_000).toFixed(0).padStart(8)} ms ${((100 * us) / all).toFixed(1).padStart(5)} %  ${file}`,
    );
}

/** What runs outside of any file has a name in brackets: `(idle)`, `(garbage collector)`. */
function shortName({ functionName, url }: CpuProfile["nodes"][number]["callFrame"]): string {
  if (url === "") return functionName.startsWith("(") ? functionName : "(native)";
  const inPackage = /.*\/node_modules\/(?!\.pnpm)(.*)/.exec(url)?.[1];
  return inPackage ?? /\/((?:packages|qa)\/.*)/.exec(url)?.[1] ?? url;
}
