import { existsSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { root } from "../root.mjs";

/** The files with the rules, each beside the code that it is about, in the order of the page. */
export const ruleFiles: readonly string[] = [
  "packages/sdk/src/core/queue/RULES.md",
  "packages/sdk/src/core/conflicts/RULES.md",
  "packages/sdk/src/text/RULES.md",
  "packages/sdk/src/storage/RULES.md",
  "packages/sdk/src/core/connection/RULES.md",
  "packages/sdk/src/core/collab/RULES.md",
  "packages/react/RULES.md",
  "e2e/bindings/RULES.md",
  "packages/tanstack-db/RULES.md",
  "packages/expo/RULES.md",
  "packages/server/src/kernel/commits/RULES.md",
  "packages/server/src/kernel/log/RULES.md",
  "packages/server/src/edge/socket/RULES.md",
  "packages/server/src/modules/presence/RULES.md",
  "packages/server/src/kernel/lists/RULES.md",
  "packages/server/src/kernel/tokens/RULES.md",
  "packages/server/src/edge/http/RULES.md",
  "packages/server/src/edge/http/docs/RULES.md",
  "packages/server/src/kernel/limits/RULES.md",
  "packages/server/src/modules/claims/RULES.md",
  "packages/server/src/modules/budgets/RULES.md",
  "packages/server/src/modules/changes/RULES.md",
  "packages/server/src/modules/webhooks/RULES.md",
  "packages/server/src/modules/RULES.md",
  "packages/server/src/kernel/schema/RULES.md",
  "packages/server/src/modules/tables/RULES.md",
  "packages/server/src/modules/databases/RULES.md",
  "packages/server/src/modules/sources/RULES.md",
  "packages/server/RULES.md",
  "apps/demo/RULES.md",
  "packages/sdk/src/backend/RULES.md",
  "packages/sdk/src/webhooks/RULES.md",
  "packages/server/src/modules/webhooks/listen/RULES.md",
  "packages/conformance/RULES.md",
  "qa/fuzz/RULES.md",
  "packages/agent/RULES.md",
  "packages/create-holdfast/RULES.md",
  "e2e/packages/RULES.md",
  "e2e/docs/RULES.md",
];

const beginning = `# Behavior

<!-- Joined from the RULES.md files beside the code by \`npm run docs:write\`, in the order of scripts/docs/behaviour-page.ts. Change the rules there. -->

Everything that Holdfast guarantees, as numbered rules. The words are explained in the [glossary](docs/glossary.md).

Tests, and the cases of the [conformance suite](docs/conformance.md), quote the rules that they check: \`git grep '\\[Q4\\]'\` finds the rule Q4 and its tests. \`scripts/check-rules.ts\` fails if a rule has no test, or if a test quotes a rule that does not exist. The rules of a subject are in a \`RULES.md\` beside its code, and this page joins them. To change a behavior, change the rule there first, then write the failing test, then the code.
`;

/** Each listed file that exists → its text. */
export const readRuleFiles = (): ReadonlyMap<string, string> =>
  new Map(
    ruleFiles
      .filter((file) => existsSync(join(root, file)))
      .map((file) => [file, readFileSync(join(root, file), "utf8")]),
  );

/** BEHAVIOR.md: the rules of all files (path → text) as one page. */
export const behaviourPage = (files: ReadonlyMap<string, string>): string =>
  [beginning, ...[...files].map(([file, text]) => `<!-- ${file} -->\n\n${sectionsOf(file, text)}`)].join("\n");

/** A file's sections as they are on the page: one level lower, with links from the root. */
const sectionsOf = (file: string, text: string): string =>
  text.replaceAll(/^# /gm, "## ").replaceAll(/\]\((?!\w+:|#)([^)\s]+)\)/g, (_, link: string) => {
    return `](${posix.join(posix.dirname(file), link)})`;
  });
