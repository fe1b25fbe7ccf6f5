import type { RequiredCapability } from "@holdfast/sdk/protocol";
import type { CommitAction } from "../../commits/rules/commit-request.ts";
import { type Refusal, refuse } from "../../refusal.ts";
import { organizationGroup } from "../../schema/rules/sync-group.ts";
import type { Budget } from "./budget.ts";
import type { Principal, Scope } from "./participant.ts";

export type Can = "read" | "propose" | "create" | "update" | "delete" | "erase";

/** What is stored of a token's permissions. */
export interface Grant {
  readonly operations: readonly string[];
  readonly syncGroups: readonly string[];
  readonly onBehalfOf: readonly string[];
  readonly budget?: Budget | null;
}

export const scopeOf = (organization: string, { operations, syncGroups, onBehalfOf, budget }: Grant): Scope => ({
  operations: new Set(operations.map((operation) => operation.toLowerCase())),
  groups: syncGroups.includes(organizationGroup(organization)) ? undefined : new Set(syncGroups),
  memberOf: new Set(syncGroups),
  onBehalfOf: new Set(onBehalfOf),
  budget: budget ?? undefined,
});

/** Whether a token may say that it writes for this participant: one that names them, or a secret key. */
export const mayWriteFor = (scope: Scope | undefined, participant: string): boolean =>
  scope === undefined || scope.onBehalfOf.has(participant) || scope.onBehalfOf.has("*");

/**
 * Whether the operations cover a verb on a model (in lower case). A permission to write includes reading. Erasing
 * cannot be undone, so no wildcard covers it: the token has to name it.
 */
export function may({ operations }: Scope, model: string, can: Can): boolean {
  if (can === "erase") return operations.has(`${model}.erase`);
  if (operations.has("*.*") || operations.has(`${model}.*`) || operations.has(`${model}.${can}`)) return true;
  if (can === "propose" && operations.has("*.propose")) return true;
  if (can !== "read") return false;
  return (
    operations.has("*.read") || operations.has("*.propose") || WRITES.some((verb) => operations.has(`${model}.${verb}`))
  );
}

/** Permissions on other participants' claims. They are unrelated to a model of that name. */
const CLAIM: ReadonlySet<string> = new Set(["claim.preempt", "claim.reorder"]);
const WRITES = ["propose", "create", "update", "delete", "erase"] as const;

/** The verb that an action requires. Archiving counts as an update. */
export const canOf = (action: CommitAction): Can =>
  action === "archive" || action === "unarchive" ? "update" : action;

const EVERY_MODEL = ["*.*", "*.read", "*.propose"] as const;

/** The models that a scope may read. Undefined: every model. */
export function readableModels({ operations }: Scope): ReadonlySet<string> | undefined {
  if (EVERY_MODEL.some((operation) => operations.has(operation))) return undefined;
  return new Set(
    [...operations].filter((operation) => !CLAIM.has(operation)).map((operation) => operation.split(".")[0] as string),
  );
}

/**
 * Whether a record with these groups is within the scope. A record without groups belongs to the whole organization.
 */
export const isWithin = ({ groups }: Scope, filed: readonly string[]): boolean =>
  groups === undefined || filed.some((group) => groups.has(group));

/** Whether a reader may see a record of a model (in lower case) with these groups. */
export const isVisible = (scope: Scope | undefined, model: string, groups: readonly string[]): boolean =>
  scope === undefined || (may(scope, model, "read") && isWithin(scope, groups));

/** Refuses a token that does not cover a model at all. `name`: as declared, else as requested. */
export function checkModel(
  { organization, scope }: Pick<Principal, "organization" | "scope">,
  name: string,
): Refusal | undefined {
  if (scope === undefined || may(scope, name.toLowerCase(), "read")) return undefined;
  const syncGroup = scope.groups?.values().next().value ?? organizationGroup(organization);
  return deny({ can: "read", model: name, syncGroup }, { param: "model" });
}

/** A missing permission: a verb on a model, in a group that the caller may know of. */
export interface Lack {
  readonly can: Can;
  /** As declared, else as requested. */
  readonly model: string;
  readonly syncGroup: string;
}

export const deny = ({ can, model, syncGroup }: Lack, rest: Pick<Refusal, "param"> = {}): Refusal =>
  refuse("capability_scope_denied", {
    ...rest,
    message: `The token's scope does not cover ${model}.${can} in ${syncGroup}.`,
    requiredCapability: { can, model, syncGroup, scope: `${model}.${can}` } satisfies RequiredCapability,
  });
