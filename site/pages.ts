import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { root } from "../scripts/root.mjs";

/** The index of the pages. It is the home page, and its tables are the sidebar. */
export const INDEX = "docs/README.md";

const namesIn = (folder: string): string[] => readdirSync(join(root, folder)).sort();

const docs = ["docs", "docs/decisions"].flatMap((folder) =>
  namesIn(folder).flatMap((name) => (name.endsWith(".md") ? [`${folder}/${name}`] : [])),
);

/** What these folders say of themselves; pages of docs/ lead there. */
const readmes = ["packages", "examples", "qa", "packages/create-holdfast/templates"]
  .flatMap((group) => namesIn(group).map((name) => `${group}/${name}/README.md`))
  .filter((file) => existsSync(join(root, file)));

/** What has another address than its path. */
const renamed: Readonly<Record<string, string>> = {
  "README.md": "overview.md",
  "ARCHITECTURE.md": "architecture.md",
  "BEHAVIOR.md": "behavior.md",
  "CHANGELOG.md": "changelog.md",
  "SECURITY.md": "security.md",
  "apps/demo/README.md": "demo.md",
  "deploy/README.md": "containers.md",
  "qa/bench/figures.md": "figures.md",
};

const addressOf = (file: string): string =>
  renamed[file] ??
  file
    .replace(/^docs\//, "")
    .replace(/^(decisions\/)?README\.md$/, "$1index.md")
    .replace(/^packages\/create-holdfast\/templates\//, "templates/")
    .replace(/\/README\.md$/, ".md");

/** The pages of the site: the file in the repository → its address, which ends in `.md` as the file does. */
export const addresses: ReadonlyMap<string, string> = new Map(
  [...docs, ...Object.keys(renamed), ...readmes].map((file) => [file, addressOf(file)]),
);

export const readPage = (file: string): string => readFileSync(join(root, file), "utf8");

/** The page that a relative link of a file leads to, or the path in the repository if it is none of the site. */
export function resolveLink(file: string, link: string): { readonly page?: string; readonly path: string } {
  const path = posix.normalize(posix.join(posix.dirname(file), link.replace(/#.*/, "")));
  // A folder is shown with its README.
  const page = [path, posix.join(path, "README.md")].find((name) => addresses.has(name));
  return page === undefined ? { path } : { page, path };
}

/** Patterns of the Markdown files that are no pages, for VitePress, which takes all that it finds. */
export function otherMarkdown(): string[] {
  const used = new Set([...addresses.keys()].map((file) => file.split("/")[0] ?? ""));
  return readdirSync(root, { withFileTypes: true }).flatMap((entry) => {
    if (entry.isDirectory()) return used.has(entry.name) ? markdownIn(entry.name) : [`${entry.name}/**`];
    return entry.name.endsWith(".md") && !addresses.has(entry.name) ? [entry.name] : [];
  });
}

function markdownIn(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return entry.name === "node_modules" || entry.name === "dist" ? [] : markdownIn(path);
    return entry.name.endsWith(".md") && !addresses.has(path) ? [path] : [];
  });
}
