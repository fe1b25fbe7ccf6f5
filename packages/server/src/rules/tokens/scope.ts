import type { RequiredCapability } from "@holdfast/sdk/protocol";
import type { CommitAction } from "../commits/commit-request.ts";
import { type Refusal, refuse } from "../refusal.ts";
import { organizationGroup } from "../schema/sync-group.ts";
import type { Principal, Scope } from "./participant.ts";

export type Can = "read" | "create" | "update" | "delete" | "erase";

/** A scope from what the token carries. */
export const scopeOf = (organization: string, operations: readonly string[], groups: readonly string[]): Scope => ({
  operations: new Set(operations.map((operation) => operation.toLowerCase())),
  groups: groups.includes(organizationGroup(organization)) ? undefined : new Set(groups),
});

/**
 * Whether the operations cover a verb on a model (in lower case). Who may write a model may read it. Erasing is for good,
 * so no wildcard covers it: the token names it.
 */
export function may({ operations }: Scope, model: string, can: Can): boolean {
  if (can === "erase") return operations.has(`${model}.erase`);
  if (operations.has("*.*") || operations.has(`${model}.*`) || operations.has(`${model}.${can}`)) return true;
  if (can !== "read") return false;
  return operations.has("*.read") || WRITES.some((verb) => operations.has(`${model}.${verb}`));
}

/** What a token may do with other people's claims: nothing to do with a model of that name. */
const CLAIM: ReadonlySet<string> = new Set(["claim.preempt", "claim.reorder"]);
const WRITES = ["create", "update", "delete", "erase"] as const;

/** What an action asks of the scope: archiving is a kind of update. */
export const canOf = (action: CommitAction): Can =>
  action === "archive" || action === "unarchive" ? "update" : action;

/** The models that a scope reads; undefined: every model. */
export function readableModels({ operations }: Scope): ReadonlySet<string> | undefined {
  if (operations.has("*.*") || operations.has("*.read")) return undefined;
  return new Set(
    [...operations].filter((operation) => !CLAIM.has(operation)).map((operation) => operation.split(".")[0] as string),
  );
}

/** Whether a record that is filed under these groups is one of the scope's. Without groups it is the organization's own. */
export const isWithin = ({ groups }: Scope, filed: readonly string[]): boolean =>
  groups === undefined || filed.some((group) => groups.has(group));

/** Refuses a reader whose token does not cover a model at all; `name` as declared, else as asked for. */
export function checkModel(
  { organization, scope }: Pick<Principal, "organization" | "scope">,
  name: string,
): Refusal | undefined {
  if (scope === undefined || may(scope, name.toLowerCase(), "read")) return undefined;
  const syncGroup = scope.groups?.values().next().value ?? organizationGroup(organization);
  return deny({ can: "read", model: name, syncGroup }, { param: "model" });
}

/** What was lacked: a verb on a model, in a group that the caller may know of. */
export interface Lack {
  readonly can: Can;
  /** As declared, else as asked for. */
  readonly model: string;
  readonly syncGroup: string;
}

export const deny = ({ can, model, syncGroup }: Lack, rest: Pick<Refusal, "param"> = {}): Refusal =>
  refuse("capability_scope_denied", {
    ...rest,
    message: `The token's scope does not cover ${model}.${can} in ${syncGroup}.`,
    requiredCapability: { can, model, syncGroup, scope: `${model}.${can}` } satisfies RequiredCapability,
  });
