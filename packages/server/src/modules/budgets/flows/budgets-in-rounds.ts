import type { InRounds, TenantAfter } from "../../../kernel/commits/flows/in-rounds.ts";
import { commitsOf, type Job } from "../../../kernel/commits/flows/job.ts";
import { type CommitRequest, touched } from "../../../kernel/commits/rules/commit-request.ts";
import type { RoundModule } from "../../../kernel/commits/rules/tenant-state.ts";
import type { Pipe } from "../../../kernel/connection/pipe.ts";
import type { Budget } from "../../../kernel/tokens/rules/budget.ts";
import { type BudgetName, loadSpent, type SpentBudget, saveSpent } from "../db/spent-budgets.ts";
import { checkBudget, NOTHING, plus, type Spent } from "../rules/budget.ts";

export const BUDGETS = "budgets";

/** What one tenant's tokens have spent, before and in this round. */
interface BudgetsRound extends RoundModule {
  readonly spent: ReadonlyMap<string, SpentBudget>;
  readonly changed: ReadonlySet<string>;
}

/** The budgets of tokens in rounds of commits. A round without such a token reads and writes nothing for them. */
export const budgetsInRounds: InRounds<readonly SpentBudget[]> = {
  name: BUDGETS,
  openLoad: () => ({
    begin: async (_pipe, jobs) => (hasBudgets(jobs) ? undefined : NONE),
    end: async (pipe, jobs, _heads, found) => found ?? (await load(pipe, jobs)),
  }),
  at: (_pipe, { head: { tenant } }, found) => roundOf(found.filter((one) => one.tenant === tenant)),
  emptyAt: ({ jobs }) => (hasBudgets(jobs) ? undefined : {}),
  save(tenants) {
    const changed = tenants.flatMap(changedIn);
    return { statements: changed.length > 0 ? [saveSpent(changed)] : [], changed: [] };
  },
};

const NONE: readonly SpentBudget[] = [];

/** Undefined: it has none, or the commit writes nothing, because it ends a proposal. */
const budgetOf = ({ principal, decides }: CommitRequest): Budget | undefined =>
  decides && decides.how !== "accept" ? undefined : principal.scope?.budget;

const hasBudgets = (jobs: readonly Job[]): boolean => commitsOf(jobs).some((commit) => budgetOf(commit) !== undefined);

const nameOf = (
  { principal: { tenant, tokenId }, attribution }: CommitRequest,
  { per, chain }: Budget,
): BudgetName => ({
  tenant,
  token: chain ?? tokenId,
  run: per === "run" ? (attribution?.run ?? "") : "",
});

const keyOf = ({ token, run }: BudgetName): string => `${token} ${run}`;

async function load(pipe: Pipe, jobs: readonly Job[]): Promise<readonly SpentBudget[]> {
  const names = new Map<string, BudgetName>();
  for (const commit of commitsOf(jobs)) {
    const budget = budgetOf(commit);
    if (!budget) continue;
    const name = nameOf(commit, budget);
    names.set(keyOf(name), name);
  }
  return (await pipe.send([loadSpent([...names.values()])]))[0];
}

function roundOf(found: readonly SpentBudget[]): BudgetsRound {
  const spent = new Map(found.map((one) => [keyOf(one), one]));
  const changed = new Set<string>();
  return {
    spent,
    changed,
    // It is asked for each operation of a commit, and the answer is the same.
    judge(_state, commit) {
      const budget = budgetOf(commit);
      return budget && checkBudget(budget, spent.get(keyOf(nameOf(commit, budget))) ?? NOTHING, costOf(commit));
    },
    committed: (_state, commit) => spend(commit),
    proposed: (_state, commit) => spend(commit),
  };

  function spend(commit: CommitRequest): void {
    const budget = budgetOf(commit);
    if (!budget) return;
    const name = nameOf(commit, budget);
    const key = keyOf(name);
    spent.set(key, { ...name, ...plus(spent.get(key) ?? NOTHING, costOf(commit)) });
    changed.add(key);
  }
}

const costOf = (commit: CommitRequest): Spent => ({ commits: 1, records: new Set(touched(commit)).size });

function changedIn({ state }: TenantAfter): readonly SpentBudget[] {
  const own = state.modules.get(BUDGETS) as Partial<BudgetsRound> | undefined;
  return [...(own?.changed ?? [])].flatMap((key) => own?.spent?.get(key) ?? []);
}
