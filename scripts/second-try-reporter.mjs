import { relative } from "node:path";
import { root } from "./root.mjs";
import { addSecondTries } from "./second-try.mjs";

/** A reporter for Vitest: lists the tests that passed only at their second try. */
// biome-ignore lint/style/noDefaultExport: Vitest loads a reporter by its default export
export default class {
  /** @type {{ file: string, title: string }[]} */
  #found = [];

  /** @param {import("vitest/node").TestCase} test */
  onTestCaseResult(test) {
    if (test.diagnostic()?.flaky)
      this.#found.push({ file: relative(root, test.module.moduleId), title: test.fullName });
  }

  onTestRunEnd() {
    addSecondTries(this.#found);
  }
}
