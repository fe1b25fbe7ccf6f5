import { mkdir, rm, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Page } from "@playwright/test";

/** A folder with one picture for each step of a walk, and a page that shows them in order. */
export interface Report {
  step(page: Page, caption: string): Promise<void>;
  figure(caption: string): void;
  write(): Promise<void>;
}

/** Starts an empty report below `test-results`, which git ignores. */
export async function createReport(name: string, title: string): Promise<Report> {
  const folder = fileURLToPath(new URL(`../../test-results/${name}/`, import.meta.url));
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const steps: { file: string; caption: string }[] = [];
  const figures: string[] = [];
  return {
    async step(page, caption) {
      const file = `${String(steps.length + 1).padStart(2, "0")}.png`;
      await page.screenshot({ path: folder + file });
      steps.push({ file, caption });
    },
    figure: (caption) => void figures.push(caption),
    async write() {
      const pictures = steps.map(
        ({ file, caption }) => `<figure><figcaption>${inHtml(caption)}</figcaption><img src="${file}" alt=""></figure>`,
      );
      const list = figures.map((caption) => `<li>${inHtml(caption)}</li>`);
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
