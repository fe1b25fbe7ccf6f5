import { createRequire } from "node:module";
import type { Page } from "@playwright/test";

const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

interface Violation {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string }[];
}

/** All violations that axe-core finds, as "rule: element". */
export const violations = async (page: Page): Promise<string[]> => (await check(page)).flatMap(describeViolation);

/** The violations that axe-core calls serious or critical. */
export const seriousViolations = async (page: Page): Promise<string[]> =>
  (await check(page)).filter(({ impact }) => impact === "serious" || impact === "critical").flatMap(describeViolation);

const describeViolation = ({ id, nodes }: Violation): string[] => nodes.map(({ html }) => `${id}: ${html}`);

async function check(page: Page): Promise<Violation[]> {
  if (!(await page.evaluate(() => "axe" in window))) await page.addScriptTag({ path: axe });
  return page.evaluate(async () => {
    const { axe: checker } = window as unknown as {
      axe: { run(options: object): Promise<{ violations: Violation[] }> };
    };
    // Without the list of everything that it found right, which takes as long again.
    return (await checker.run({ resultTypes: ["violations"] })).violations;
  });
}
