import { readPage, resolveLink } from "./pages.ts";

const LONGEST = 160;

/** What llms.txt says of a page, or else the beginning of its first paragraph. */
export const descriptionOf = (file: string): string => listed().get(file) ?? firstSentences(readPage(file));

let sentences: ReadonlyMap<string, string> | undefined;

function listed(): ReadonlyMap<string, string> {
  sentences ??= new Map(
    [...readPage("llms.txt").matchAll(/^- \[.*?\]\((.*?)\): (.*)$/gm)].map(([, link = "", says = ""]) => [
      resolveLink("llms.txt", link).page ?? link,
      `${says.charAt(0).toUpperCase()}${plain(says.slice(1))}.`,
    ]),
  );
  return sentences;
}

function firstSentences(text: string): string {
  const paragraph = text.split(/\n{2,}/).find((block) => /^[\p{L}`*[]/u.test(block)) ?? "";
  const words = plain(paragraph.replaceAll(/\s+/g, " ").trim());
  if (words.length <= LONGEST) return words;
  const cut = words.slice(0, LONGEST);
  const end = cut.search(/[.:;](?= [^.:;]*$)/);
  return end > 0 ? `${cut.slice(0, end)}.` : `${cut.slice(0, cut.lastIndexOf(" "))} …`;
}

/** Without the marks of Markdown. */
const plain = (text: string): string => text.replaceAll(/\[(.*?)\]\(.*?\)/g, "$1").replaceAll(/[`*]/g, "");
