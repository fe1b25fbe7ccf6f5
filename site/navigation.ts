import type { DefaultTheme } from "vitepress";
import { addresses, INDEX, readPage, resolveLink } from "./pages.ts";

interface Row {
  /** What the reader wants to do. */
  readonly task: string;
  readonly name: string;
  /** Its file. */
  readonly page: string;
}

/** The tables of docs/README.md, by the section in which they are. */
const tables: ReadonlyMap<string, readonly Row[]> = new Map(
  readPage(INDEX)
    .split(/^## /m)
    .slice(1)
    .map((section) => [
      section.split("\n", 1)[0] ?? "",
      [...section.matchAll(/^\| (.*?) *\| \[(.*?)\]\((.*?)\)/gm)].map(([, task = "", name = "", link = ""]) => ({
        task,
        name: name.replaceAll("`", ""),
        page: resolveLink(INDEX, link).page ?? "",
      })),
    ]),
);

/** What a reader of this page wants to do, or nothing. */
export const taskOf = (file: string): string =>
  [...tables.values()].flat().find(({ page }) => page === file)?.task ?? "";

/** A group for each section of docs/README.md, and an item for each row. */
export const sidebar = (): DefaultTheme.SidebarItem[] =>
  [...tables].map(([text, rows]) => ({ text, items: rows.map(itemOf) }));

function itemOf({ task, name, page }: Row): DefaultTheme.SidebarItem {
  const item = { text: `${name} <small>${task}</small>`, docFooterText: name, link: linkTo(page) };
  return page === DECISIONS ? { ...item, collapsed: true, items: decisions() } : item;
}

const DECISIONS = "docs/decisions/README.md";

const decisions = (): DefaultTheme.SidebarItem[] =>
  [...readPage(DECISIONS).matchAll(/\[(.*?)\]\((.*?)\)/g)].map(([, name = "", link = ""]) => ({
    text: name.replaceAll("`", ""),
    link: linkTo(resolveLink(DECISIONS, link).page ?? ""),
  }));

const linkTo = (page: string): string => `/${addresses.get(page)?.replace(/(^|(?<=\/))index\.md$|\.md$/, "") ?? ""}`;
