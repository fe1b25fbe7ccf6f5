import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join, posix } from "node:path";
import { root } from "../scripts/root.mjs";
import { withSiteLinks } from "./links.ts";
import { addresses, readPage } from "./pages.ts";

const IMAGE = /(!\[[^\]]*\]\()([^)\s]+)(\))/g;

/**
 * What programs read: every page as Markdown beside its HTML, the repository's llms.txt, and all pages in one file. The
 * links are relative, so that they work on any host and under any path.
 */
export function writeTexts(folder: string): void {
  for (const [file, address] of addresses) write(folder, address, pageText(file, address));
  write(folder, "llms.txt", linkedFrom("llms.txt", "llms.txt"));
  write(folder, "llms-full.txt", [...addresses].map(wholePage).join("\n\n"));
  for (const [file] of addresses)
    for (const [, , image = ""] of readPage(file).matchAll(IMAGE)) {
      mkdirSync(join(folder, "images"), { recursive: true });
      copyFileSync(join(root, dirname(file), image), join(folder, "images", basename(image)));
    }
}

const wholePage = ([file, address]: [string, string]): string =>
  `<!-- ${address} -->\n\n${pageText(file, "").trim()}\n`;

/** A page whose links are those of a file at this address. */
const pageText = (file: string, address: string): string =>
  linkedFrom(file, address).replaceAll(
    IMAGE,
    (_, before: string, image: string, after: string) =>
      `${before}${posix.relative(posix.dirname(address), `images/${basename(image)}`)}${after}`,
  );

const linkedFrom = (file: string, address: string): string =>
  withSiteLinks(file, readPage(file), (page) => posix.relative(posix.dirname(address), page));

function write(folder: string, address: string, text: string): void {
  const target = join(folder, address);
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, text);
}
