import { mkdir, rm, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Page } from "@playwright/test";

/** A folder with one picture for each step of a walk, and a page that shows them in order. */
export interface Report {
  step(page: Page, says: string): Promise<void>;
  figure(says: string): void;
  write(): Promise<void>;
}

/** Begins it anew, below `test-results`, which is not kept with the sources. */
export async function createReport(name: string, title: string): Promise<Report> {
  const folder = fileURLToPath(new URL(`../../test-results/${name}/`, import.meta.url));
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const steps: { file: string; says: string }[] = [];
  const figures: string[] = [];
  return {
    async step(page, says) {
      const file = `${String(steps.length + 1).padStart(2, "0")}.png`;
      await page.screenshot({ path: folder + file });
      steps.push({ file, says });
    },
    figure: (says) => void figures.push(says),
    async write() {
      const pictures = steps.map(
        ({ file, says }) => `<figure><figcaption>${inHtml(says)}</figcaption><img src="${file}" alt=""></figure>`,
      );
      const list = figures.map((says) => `<li>${inHtml(says)}</li>`);
      await writeFile(
        `${folder}index.html`,
        `<!doctype html><html lang="en"><meta charset="utf-8"><title>${inHtml(title)}</title>
<style>body{font:1rem/1.5 system-ui;max-width:70rem;margin:2rem auto;padding:0 1rem}img{max-width:100%;border:1px solid #ccc}figure{margin:2rem 0}</style>
<h1>${inHtml(title)}</h1><ul>${list.join("")}</ul>${pictures.join("\n")}</html>\n`,
      );
    },
  };
}

const inHtml = (text: string): string => text.replace(/[&<>"]/g, (char) => `&#${char.charCodeAt(0)};`);
