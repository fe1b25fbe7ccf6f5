import { isErrorCode } from "@holdfast/sdk/protocol";
import type { InRounds } from "../kernel/commits/flows/in-rounds.ts";
import { commitsOf } from "../kernel/commits/flows/job.ts";
import type { CommitRequest } from "../kernel/commits/rules/commit-request.ts";
import type { RoundModule } from "../kernel/commits/rules/tenant-state.ts";
import { oneOpens } from "../kernel/connection/one-opens.ts";
import type { Database } from "../kernel/connection/pool.ts";
import type { Statement } from "../kernel/connection/statement.ts";
import { type Transaction, takeTime, transaction } from "../kernel/connection/transaction.ts";
import { type Refusal, refuse } from "../kernel/refusal.ts";
import { nameOf } from "../kernel/tokens/rules/participant.ts";
import type {
  ModuleCommit,
  ModuleDatabase,
  ModuleRefusal,
  ModuleRounds,
  ModuleStatement,
  ServerModule,
} from "../server-module.ts";
import type { Module } from "./module.ts";

/* Modules that do not come with the server, as the kernel knows modules. */

const NAME = /^[a-z][a-z0-9-]{0,39}$/;
const MEMBERS = new Set(["name", "open", "rounds", "routes"]);
const OF_ROUNDS = new Set(["load", "judge", "confirmed", "save"]);
const OF_ROUTES = new Set(["method", "path", "audience", "handle"]);
const METHODS = new Set(["GET", "POST", "PATCH", "DELETE"]);

/** How long the reads of a module may hold up a round. */
const LOAD_MS = 2_000;

/** Throws a sentence if a module is none. They come from plain JavaScript too, where nothing has checked them. */
export function checkModules(modules: readonly ServerModule[]): void {
  const names = new Set<string>();
  for (const own of modules) {
    const name: unknown = own?.name;
    if (typeof name !== "string" || !NAME.test(name))
      throw new TypeError(`A module needs a name of lower-case letters, digits and hyphens: ${String(name)}`);
    const problem = names.has(name) ? "is there twice" : problemOf(own);
    if (problem !== undefined) throw new TypeError(`The module "${name}" ${problem}.`);
    names.add(name);
  }
}

function problemOf(own: ServerModule): string | undefined {
  const { open, rounds, routes = [] } = own;
  const unknown = unknownIn(own, MEMBERS) ?? (rounds && unknownIn(rounds, OF_ROUNDS));
  if (unknown !== undefined) return `has a member "${unknown}", which means nothing`;
  if (open !== undefined && typeof open !== "function") return "has an `open` that is no function";
  if (rounds && typeof rounds.load !== "function") return "has `rounds` without a function `load`";
  const known = new Set<string>();
  for (const route of routes) {
    const said = `${route.method} ${route.path}`;
    const more = unknownIn(route, OF_ROUTES);
    if (more !== undefined) return `has a route ${said} with a member "${more}", which means nothing`;
    if (!METHODS.has(route.method)) return `has a route ${said}: its method is none of ${[...METHODS].join(", ")}`;
    if (typeof route.path !== "string" || !route.path.startsWith("/"))
      return `has a route ${said}: paths begin with "/"`;
    if (route.audience !== undefined && route.audience !== "token" && route.audience !== "secret_key")
      return `has a route ${said}: its audience is neither "token" nor "secret_key"`;
    if (typeof route.handle !== "function") return `has a route ${said} without a function \`handle\``;
    if (known.has(said)) return `has the route ${said} twice`;
    known.add(said);
  }
  return undefined;
}

const unknownIn = (of: object, known: ReadonlySet<string>): string | undefined =>
  Object.keys(of).find((member) => !known.has(member));

/** Throws if one of them is none. */
export function ownModules(modules: readonly ServerModule[]): readonly Module[] {
  checkModules(modules);
  return modules.map(asModule);
}

function asModule({ name, open, rounds }: ServerModule): Module {
  const known = `x/${name}`;
  return {
    name: known,
    async openIn({ pool }) {
      if (open)
        await transaction(pool, async (tx) => {
          await takeTime(tx);
          await oneOpens(tx);
          await open(databaseOf(tx));
        }).catch((error: unknown) => {
          throw new Error(`The module "${name}" cannot be opened: ${reasonOf(error)}`, { cause: error });
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
    async at(pipe, { head: { tenant }, jobs }): Promise<RoundModule> {
      // What has happened already cannot be refused.
      const commits = commitsOf(jobs.filter(({ captured }) => !captured)).map(shown);
      if (commits.length === 0) return {};
      const query = async <Row extends object>(text: string, values: readonly unknown[] = []) =>
        (
          await pipe.send([statementOf<readonly Row[]>({ text, values }, (rows) => rows as unknown as readonly Row[])])
        )[0];
      const known = await inTime(name, rounds.load({ query }, { tenant, commits }));
      const asked = new Map<CommitRequest, Refusal | undefined>();
      const own: OwnRound = {
        known,
        // It is asked for each operation, and the module once for each commit.
        judge(_state, commit) {
          if (!asked.has(commit)) asked.set(commit, refusalOf(name, rounds.judge?.(known, shown(commit))));
          return asked.get(commit);
        },
        committed: (_state, commit) => rounds.confirmed?.(known, shown(commit)),
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

function refusalOf(name: string, no: ModuleRefusal | undefined): Refusal | undefined {
  if (no === undefined) return undefined;
  if (!isErrorCode(no?.code)) throw new Error(`${name}: judge must return undefined or a refusal with a known code.`);
  return refuse(no.code, { message: no.message, ...(no.param !== undefined && { param: no.param }) });
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** A round that a module holds up is a round of others too. */
async function inTime<T>(name: string, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${name}: load took longer than ${LOAD_MS} ms.`)), LOAD_MS);
  });
  return await Promise.race([work, over]).finally(() => clearTimeout(timer));
}
