import { readdirSync } from "node:fs";
import type { Chapter } from "./chapter.ts";

export interface NamedChapter extends Chapter {
  /** The name of its file. */
  readonly name: string;
}

const FOLDER = new URL("./chapters/", import.meta.url);

/** Every file of the folder is a chapter and exports it as `chapter`. */
export async function loadChapters(): Promise<readonly NamedChapter[]> {
  const files = readdirSync(FOLDER).filter((file) => /\.[jt]s$/.test(file) && !file.endsWith(".d.ts"));
  const chapters = await Promise.all(
    files.sort().map(async (file) => {
      const { chapter } = (await import(/* @vite-ignore */ new URL(file, FOLDER).href)) as { chapter?: Chapter };
      if (!chapter) throw new Error(`chapters/${file} exports no chapter.`);
      return { ...chapter, name: file.replace(/\.[jt]s$/, "") };
    }),
  );
  for (const { name, cases } of chapters) {
    const twice = cases.find(({ says }, at) => cases.findIndex((one) => one.says === says) !== at);
    if (twice) throw new Error(`chapters/${name} has two cases "${twice.says}".`);
  }
  return chapters;
}
