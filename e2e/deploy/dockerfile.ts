/** One stage of a Dockerfile: its instructions in their order, as `["RUN", "npm ci"]`. */
export interface Stage {
  /** After AS; empty if it has none. */
  readonly name: string;
  readonly image: string;
  readonly instructions: readonly (readonly [name: string, text: string])[];
}

/** Reads as much of the language as deploy/Dockerfile uses: one instruction a line, comments, no continued lines. */
export function readDockerfile(text: string): Stage[] {
  const stages: { name: string; image: string; instructions: [string, string][] }[] = [];
  for (const line of text.split("\n")) {
    if (line.trim() === "" || line.startsWith("#")) continue;
    const [, name, rest] = /^([A-Z]+) (.+)$/.exec(line) ?? [];
    if (name === undefined || rest === undefined || rest.endsWith("\\")) throw new Error(`Cannot read: ${line}`);
    if (name !== "FROM") {
      stages.at(-1)?.instructions.push([name, rest]);
      continue;
    }
    const [image = "", , as = ""] = rest.split(" ");
    stages.push({ name: as, image, instructions: [] });
  }
  return stages;
}

/** What the image starts with, and with which environment. */
export interface StartCommand {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly entrypoint: readonly string[];
  readonly healthcheck: readonly string[];
  readonly user: string;
}

export function startCommandOf({ instructions }: Stage): StartCommand {
  const last = (name: string) => instructions.findLast(([one]) => one === name)?.[1] ?? "";
  const env = instructions.flatMap(([name, text]) => {
    const at = text.indexOf("=");
    return name === "ENV" ? [[text.slice(0, at), text.slice(at + 1)]] : [];
  });
  return {
    folder: last("WORKDIR"),
    env: Object.fromEntries(env),
    // The form of a list: without a shell, which would keep SIGTERM to itself.
    entrypoint: JSON.parse(last("ENTRYPOINT")) as string[],
    healthcheck: JSON.parse(last("HEALTHCHECK").replace(/^.*? CMD /, "")) as string[],
    user: last("USER"),
  };
}

/** Whether a path of the build context is left out, by the lines of a .dockerignore: names after two stars, or paths. */
export function createIgnored(text: string): (path: string) => boolean {
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  const patterns = lines.map((line) => {
    const anywhere = line.startsWith("**/");
    const body = line
      .replace(/^\*\*\//, "")
      .replaceAll(".", "\\.")
      .replaceAll("*", "[^/]*");
    return new RegExp(`${anywhere ? "(^|/)" : "^"}${body}(/|$)`);
  });
  return (path) => patterns.some((pattern) => pattern.test(path));
}
