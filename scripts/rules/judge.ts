import { quotedRules, rulesOfCases } from "./quoted-rules.ts";
import { rulesIn } from "./rules-in.ts";

/** The conformance suite's cases; `npm test` runs them against our server. */
export const isSection = (file: string) => file.startsWith("packages/conformance/src/sections/");

/** What is wrong between the texts of the files of rules and the tests (path → text), one line each. */
export function judgeRules(
  ruleTexts: readonly string[],
  tests: Map<string, string>,
): { complaints: string[]; rules: number } {
  const rules = new Set(ruleTexts.flatMap(rulesIn).map(({ id }) => id));
  const quotes = [...tests].map(([file, text]) => ({
    file,
    ids: isSection(file) ? rulesOfCases(file, text) : quotedRules(file, text),
  }));
  const quoted = new Set(quotes.flatMap(({ ids }) => [...ids]));
  return {
    rules: rules.size,
    complaints: [
      ...[...rules].filter((id) => !quoted.has(id)).map((id) => `[${id}] is quoted by no test`),
      ...quotes.flatMap(({ file, ids }) =>
        [...ids].filter((id) => !rules.has(id)).map((id) => `${file} quotes [${id}], which is in no RULES.md`),
      ),
    ],
  };
}
