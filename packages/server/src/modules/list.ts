import { budgets } from "./budgets/module.ts";
import { changes } from "./changes/module.ts";
import { claims } from "./claims/module.ts";
import { databases } from "./databases/module.ts";
import { presence } from "./presence/module.ts";
import { sources } from "./sources/module.ts";
import { tables } from "./tables/module.ts";
import { webhooks } from "./webhooks/module.ts";

/** What the server has beside its kernel, in the order in which they are asked. */
export const modules = [tables, claims, budgets, changes, presence, webhooks, sources, databases] as const;
