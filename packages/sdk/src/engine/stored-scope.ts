import type { Scope } from "../core/log/rows.ts";
import { scopeKey, scopeOf } from "../core/log/scope-key.ts";

/* The store has the scope of rows as a text, which it compares and does not read. */

export const storedScope = (scope: Scope | undefined): string | undefined => scope && scopeKey(scope);

/** Rows as they were stored, with their scope. */
export const fromStore = <T extends { readonly scope?: string | undefined }>({ scope, ...rows }: T) => ({
  ...rows,
  scope: scope === undefined ? undefined : scopeOf(scope),
});
