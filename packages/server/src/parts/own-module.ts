import { oneOpens } from "../db/connection/one-opens.ts";
import type { Database } from "../db/connection/pool.ts";
import type { Statement } from "../db/connection/statement.ts";
import { type Transaction, transaction } from "../db/connection/transaction.ts";
import type { InRounds } from "../flows/commits/in-rounds.ts";
import { commitsOf } from "../flows/commits/job.ts";
import type { CommitRequest } from "../rules/commits/commit-request.ts";
import type { RoundModule } from "../rules/commits/tenant-state.ts";
import { refuse } from "../rules/refusal.ts";
import { nameOf } from "../rules/tokens/participant.ts";
import type { ModuleCommit, ModuleDatabase, ModuleRounds, ModuleStatement, ServerModule } from "../server-module.ts";
import type { Module } from "./module.ts";

/* Modules that do not come with the server, as the kernel knows modules. */

const NAME = /^[a-z][a-z0-9-]{0,39}$/;

/** Throws if names are wrong or taken. */
export function ownModules(modules: readonly ServerModule[]): readonly Module[] {
  const names = new Set<string>();
  return modules.map((own) => {
    if (typeof own?.name !== "string" || !NAME.test(own.name))
      throw new TypeError(`A module needs a name of lower-case letters, digits and hyphens: ${String(own?.name)}`);
    if (names.has(own.name)) throw new TypeError(`Two modules have the name "${own.name}".`);
    names.add(own.name);
    return asModule(own);
  });
}

function asModule({ name, open, rounds }: ServerModule): Module {
  const known = `x/${name}`;
  return {
    name: known,
    async openIn({ pool }) {
      if (open)
        await transaction(pool, async (tx) => {
          await oneOpens(tx);
          await open(databaseOf(tx));
        });
      return {};
    },
    ...(rounds && { inRounds: inRoundsOf(known, rounds) }),
  };
}

export const databaseOf = (pool: Database | Transaction): ModuleDatabase => ({
  query: async <Row extends object>(text: string, values: readonly unknown[] = []) =>
    (await pool.query(text, [...values])).rows as readonly Row[],
});

interface OwnRound extends RoundModule {
  readonly known: unknown;
}

function inRoundsOf(name: string, rounds: ModuleRounds): InRounds<undefined> {
  return {
    name,
    openLoad: () => ({ begin: async () => undefined, end: async () => undefined }),
    async at(pipe, { tenant }, jobs): Promise<RoundModule> {
      const commits = commitsOf(jobs).map(shown);
      if (commits.length === 0) return {};
      const query = async <Row extends object>(text: string, values: readonly unknown[] = []) =>
        (
          await pipe.send([statementOf<readonly Row[]>({ text, values }, (rows) => rows as unknown as readonly Row[])])
        )[0];
      const known = await rounds.load({ query }, { tenant, commits });
      const own: OwnRound = {
        known,
        judge(_state, commit) {
          const no = rounds.judge?.(known, shown(commit));
          return no && refuse(no.code, { message: no.message, ...(no.param !== undefined && { param: no.param }) });
        },
        settle(_state, commit, decision) {
          if (decision.kind === "confirmed") rounds.confirmed?.(known, shown(commit));
          return decision;
        },
      };
      return own;
    },
    save(tenants) {
      const statements = tenants.flatMap(({ tenant, state }) => {
        const own = state.modules.get(name) as OwnRound | undefined;
        return own && "known" in own ? (rounds.save?.(own.known, tenant) ?? []) : [];
      });
      return { statements: statements.map((one) => statementOf(one, () => undefined)), changed: [] };
    },
  };
}

const statementOf = <T>({ text, values = [] }: ModuleStatement, read: Statement<T>["read"]): Statement<T> => ({
  ...{ name: "", text, values, read },
});

const shown = ({ principal, clientTxId, operations }: CommitRequest): ModuleCommit => ({
  organization: principal.organization,
  livemode: principal.livemode,
  participant: nameOf(principal),
  clientTxId,
  operations: operations.map(({ action, model, id }) => ({ action, model, id })),
});
