import { readdirSync } from "node:fs";
import { basename } from "node:path";
import type { SuiteSection } from "../kit/section.ts";

export interface NamedSection extends SuiteSection {
  /** The name of its file. */
  readonly name: string;
}

const FOLDER = new URL("../sections/", import.meta.url);

/** Every file of the folder is a section and exports it as `section`. */
export async function loadSections(): Promise<readonly NamedSection[]> {
  const files = readdirSync(FOLDER, { recursive: true, encoding: "utf8" }).filter(
    (file) => /\.[jt]s$/.test(file) && !file.endsWith(".d.ts"),
  );
  const sections = await Promise.all(
    files
      .sort((a, b) => basename(a).localeCompare(basename(b)))
      .map(async (file) => {
        const { section } = (await import(/* @vite-ignore */ new URL(file, FOLDER).href)) as { section?: SuiteSection };
        if (!section) throw new Error(`sections/${file} exports no section.`);
        return { ...section, name: basename(file).replace(/\.[jt]s$/, "") };
      }),
  );
  for (const { name, cases } of sections) {
    const twice = cases.find(({ says }, at) => cases.findIndex((one) => one.says === says) !== at);
    if (twice) throw new Error(`section ${name} has two cases "${twice.says}".`);
  }
  return sections;
}
