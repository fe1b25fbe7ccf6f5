import { createInterface } from "node:readline/promises";
import { CreateError } from "./create-error.ts";
import { type CreateOptions, DEFAULT_FOLDER, DEFAULT_TEMPLATE } from "./options.ts";
import { checkTarget } from "./target-folder.ts";
import { isTemplate, type Template, templateLines, templateNames } from "./templates.ts";

/** The folder and the template: as they were given, or as the person answers. Enter takes the default. */
export async function askWhatIsMissing(
  { folder, template }: CreateOptions,
  isInteractive: boolean,
): Promise<{ folder: string; template: Template }> {
  // A folder that cannot be used is refused before the next question.
  checkTarget(folder ?? (isInteractive ? undefined : DEFAULT_FOLDER));
  if (!isInteractive || (folder !== undefined && template !== undefined))
    return { folder: folder ?? DEFAULT_FOLDER, template: template ?? DEFAULT_TEMPLATE };
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  // Ctrl-C and Ctrl-D, which would leave the question open.
  const stop = new AbortController();
  terminal.once("close", () => stop.abort());
  const ask = async (question: string) => (await terminal.question(question, { signal: stop.signal })).trim();
  try {
    return { folder: folder ?? (await askFolder(ask)), template: template ?? (await askTemplate(ask)) };
  } catch (error) {
    if (stop.signal.aborted) throw new CreateError("Nothing was written.");
    throw error;
  } finally {
    terminal.close();
  }
}

type Ask = (question: string) => Promise<string>;

async function askFolder(ask: Ask): Promise<string> {
  for (;;) {
    const folder = (await ask(`Folder (${DEFAULT_FOLDER}): `)) || DEFAULT_FOLDER;
    try {
      checkTarget(folder);
      return folder;
    } catch (error) {
      if (!(error instanceof CreateError)) throw error;
      process.stdout.write(`${error.message}\n`);
    }
  }
}

async function askTemplate(ask: Ask): Promise<Template> {
  process.stdout.write(
    `\n${templateLines()
      .map((line, i) => `  ${i + 1}  ${line}\n`)
      .join("")}\n`,
  );
  for (;;) {
    const answer = (await ask(`Template, by number or name (${DEFAULT_TEMPLATE}): `)) || DEFAULT_TEMPLATE;
    const name = /^\d+$/.test(answer) ? templateNames[Number(answer) - 1] : answer;
    if (isTemplate(name)) return name;
    process.stdout.write(`"${answer}" is not in the list.\n`);
  }
}
