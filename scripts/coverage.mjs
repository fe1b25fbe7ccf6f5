import { readFileSync } from "node:fs";

/** @typedef {{ total: number, covered: number }} Count */

/**
 * One line per package: how much of its lines and branches the tests run through.
 * @param {string} file a summary as istanbul's `json-summary` writes it
 * @returns {string[]}
 */
export function coverageLines(file) {
  /** @type {Record<string, { lines: Count, branches: Count }>} */
  const summary = JSON.parse(readFileSync(file, "utf8"));
  /** @type {Map<string, { lines: Count, branches: Count }>} */
  const packages = new Map();
  for (const [path, { lines, branches }] of Object.entries(summary)) {
    const [, name] = /[\\/]packages[\\/]([^\\/]+)[\\/]/.exec(path) ?? [];
    if (name === undefined) continue;
    const sum = packages.get(name) ?? { lines: { total: 0, covered: 0 }, branches: { total: 0, covered: 0 } };
    packages.set(name, { lines: added(sum.lines, lines), branches: added(sum.branches, branches) });
  }
  return [...packages]
    .sort(([a], [b]) => a.localeCompare(b))
    .map(
      ([name, { lines, branches }]) =>
        `coverage of ${name}: ${percent(lines)} of lines, ${percent(branches)} of branches`,
    );
}

/** @param {Count} a @param {Count} b @returns {Count} */
const added = (a, b) => ({ total: a.total + b.total, covered: a.covered + b.covered });

/** @param {Count} count */
const percent = ({ total, covered }) => `${total === 0 ? 100 : Math.floor((1_000 * covered) / total) / 10} %`;
