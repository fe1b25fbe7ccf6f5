import { type Refusal, refuse } from "../../../kernel/refusal.ts";
import type { Budget } from "../../../kernel/tokens/rules/budget.ts";

/** What a token has done. */
export interface Spent {
  readonly commits: number;
  readonly records: number;
}

export const NOTHING: Spent = { commits: 0, records: 0 };

export const plus = (one: Spent, other: Spent): Spent => ({
  commits: one.commits + other.commits,
  records: one.records + other.records,
});

/** Whether the budget has room for one more commit on so many records. */
export function checkBudget(budget: Budget, spent: Spent, next: Spent): Refusal | undefined {
  const after = plus(spent, next);
  for (const what of ["commits", "records"] as const) {
    const most = budget[what];
    if (most === undefined || after[what] <= most) continue;
    const where = budget.per === "run" ? "for this run" : "in all";
    return refuse("budget_spent", {
      message: `The token may write ${most} ${what} ${where}: ${spent[what]} are written, and this commit has ${next[what]}.`,
    });
  }
  return undefined;
}
