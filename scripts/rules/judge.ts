import { quotedRules, rulesOfCases } from "./quoted-rules.ts";

/** The conformance suite's cases; `npm test` runs them against our server. */
export const isSection = (file: string) => file.startsWith("packages/conformance/src/sections/");

/** What is wrong between the rule book and the tests (path → text), one line each. */
export function judgeRules(ruleBook: string, tests: Map<string, string>): { complaints: string[]; rules: number } {
  const written = [...ruleBook.matchAll(/\*\*\[([A-Z]+\d+[a-z]?)\]\*\*/g)].map(([, id = ""]) => id);
  const rules = new Set(written);
  const quotes = [...tests].map(([file, text]) => ({
    file,
    ids: isSection(file) ? rulesOfCases(file, text) : quotedRules(file, text),
  }));
  const quoted = new Set(quotes.flatMap(({ ids }) => [...ids]));
  return {
    rules: rules.size,
    complaints: [
      ...written.filter((id, at) => written.indexOf(id) !== at).map((id) => `[${id}] is listed twice in the rule book`),
      ...[...rules].filter((id) => !quoted.has(id)).map((id) => `[${id}] is quoted by no test`),
      ...quotes.flatMap(({ file, ids }) =>
        [...ids].filter((id) => !rules.has(id)).map((id) => `${file} quotes [${id}], which is not in the rule book`),
      ),
    ],
  };
}
