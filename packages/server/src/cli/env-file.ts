import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";

const OPTION = "--env-file";

/** Takes `--env-file <file>` out of a program's words. */
export function takeEnvFile(words: readonly string[]): { readonly words: string[]; readonly file: string | undefined } {
  const at = words.findIndex((word) => word === OPTION || word.startsWith(`${OPTION}=`));
  if (at < 0) return { words: [...words], file: undefined };
  const given = words[at]?.slice(OPTION.length + 1);
  // Without a file's name, it is left there: that is an option without its value.
  const file = given === "" ? words[at + 1] : given;
  if (file === undefined) return { words: [...words], file: undefined };
  return { words: words.toSpliced(at, given === "" ? 2 : 1), file };
}

/**
 * The `.env` of a folder, if it sets a variable of ours, as `holdfast init` writes it. Otherwise the file may be another
 * program's, and so may the database that it names.
 */
export function ownEnvFile(folder: string): string | undefined {
  const file = join(folder, ".env");
  try {
    return Object.keys(readEnv(readFileSync(file, "utf8"))).some((name) => name.startsWith("HOLDFAST_"))
      ? file
      : undefined;
  } catch {
    return undefined;
  }
}

/** The variables of a file's text. */
export const readEnv = (text: string): Readonly<Record<string, string | undefined>> => parseEnv(text);

/** The text with further variables at its end. */
export function withVariables(text: string, variables: Readonly<Record<string, string>>): string {
  const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}\n`);
  if (lines.length === 0) return text;
  const gap = text === "" || text.endsWith("\n") ? "" : "\n";
  return `${text}${gap}${lines.join("")}`;
}
