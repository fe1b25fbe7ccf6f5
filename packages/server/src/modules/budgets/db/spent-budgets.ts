import type { Statement } from "../../../kernel/connection/statement.ts";
import type { Spent } from "../rules/budget.ts";

/** Whose budget, in which run; the empty name is that of all. */
export interface BudgetName {
  readonly tenant: number;
  readonly token: string;
  readonly run: string;
}

export interface SpentBudget extends BudgetName, Spent {}

export const loadSpent = (names: readonly BudgetName[]): Statement<readonly SpentBudget[]> => ({
  name: "load_spent_budgets",
  text: `select s.tenant, s.token, s.run, s.commits, s.records
    from unnest($1::int[], $2::text[], $3::text[]) as k(tenant, token, run)
    join holdfast.spent_budget s on s.tenant = k.tenant and s.token = k.token and s.run = k.run`,
  values: columnsOf(names),
  read: (rows) => rows as unknown as SpentBudget[],
});

export const saveSpent = (budgets: readonly SpentBudget[]): Statement<void> => ({
  name: "save_spent_budgets",
  text: `insert into holdfast.spent_budget (tenant, token, run, commits, records, updated_at)
    select k.*, clock_timestamp() from unnest($1::int[], $2::text[], $3::text[], $4::bigint[], $5::bigint[]) as k
    on conflict (tenant, token, run) do update
      set commits = excluded.commits, records = excluded.records, updated_at = excluded.updated_at`,
  values: [...columnsOf(budgets), budgets.map(({ commits }) => commits), budgets.map(({ records }) => records)],
  read: () => {},
});

const columnsOf = (names: readonly BudgetName[]) => [
  names.map(({ tenant }) => tenant),
  names.map(({ token }) => token),
  names.map(({ run }) => run),
];
