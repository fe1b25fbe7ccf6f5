import { behaviourPage } from "../docs/behaviour-page.ts";
import { rulesIn } from "./rules-in.ts";

/** A rule is one fact. More characters than this are several, or an explanation, which belongs on a page. */
export const LONGEST_RULE = 300;

/** What is wrong with the files of rules themselves, one line each. */
export function judgeFiles(book: {
  /** The files that the page joins, in its order. */
  listed: readonly string[];
  /** Every RULES.md of the project, path → text. */
  found: ReadonlyMap<string, string>;
  /** BEHAVIOR.md as it is. */
  page: string;
  longest?: number;
}): string[] {
  const { listed, found, page, longest = LONGEST_RULE } = book;
  const rules = [...found].flatMap(([file, text]) => rulesIn(text).map((rule) => ({ file, ...rule })));
  const first = new Map(rules.toReversed().map((rule) => [rule.id, rule]));
  const expected = behaviourPage(new Map(listed.map((file) => [file, found.get(file) ?? ""])));
  return [
    ...[...found.keys()]
      .filter((file) => !listed.includes(file))
      .map((file) => `${file} is in no list: add it to ruleFiles in scripts/docs/behaviour-page.ts`),
    ...listed
      .filter((file, at) => !found.has(file) || listed.indexOf(file) !== at)
      .map(
        (file) =>
          `scripts/docs/behaviour-page.ts lists ${file}, which ${found.has(file) ? "is there twice" : "does not exist"}`,
      ),
    ...rules
      .filter((rule) => first.get(rule.id) !== rule)
      .map(({ id, file }) => `[${id}] is in ${first.get(id)?.file} and again in ${file}: take ${nextOf(id, rules)}`),
    ...rules
      .filter(({ id, section }) => id.replace(/\d.*/, "") !== section)
      .map(({ id, file, section }) => `${file} has [${id}] in the section [${section}]`),
    ...rules
      .filter(({ length }) => length > longest)
      .map(
        ({ id, file, length }) => `${file}: [${id}] has ${length} characters (up to ${longest}): write one fact a rule`,
      ),
    ...[...found].flatMap(([file, text]) =>
      text
        .split("\n")
        .flatMap((line, at) =>
          /^\s+\S/.test(line) ? [`${file}:${at + 1} begins with a space: a rule is one line`] : [],
        ),
    ),
    ...(page === expected ? [] : ["BEHAVIOR.md is out of date: run npm run docs:write"]),
  ];
}

/** The next free number of an id's letters. */
function nextOf(id: string, rules: readonly { readonly id: string }[]): string {
  const letters = id.replace(/\d.*/, "");
  const numbers = rules
    .filter((rule) => rule.id.replace(/\d.*/, "") === letters)
    .map((rule) => rule.id.slice(letters.length));
  return `${letters}${Math.max(...numbers.map((number) => Number.parseInt(number, 10))) + 1}`;
}
