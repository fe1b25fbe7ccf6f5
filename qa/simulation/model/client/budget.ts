import type { FollowedWhere } from "../../../../packages/sdk/src/api/followed-scope.ts";
import { compileConditions } from "../../../../packages/sdk/src/api/lists/conditions.ts";
import type { SyncClient } from "../../../../packages/sdk/src/api/sync-client.ts";
import type { ClientOptions } from "../../../../packages/sdk/src/options.ts";
import type { JsonObject } from "../../../../packages/sdk/src/protocol/json.ts";
import type { RowOf } from "../../../../packages/sdk/src/protocol/schema/row-types.ts";
import { schema } from "../schema.ts";

export type PartOfSlides = FollowedWhere<RowOf<typeof schema, "slide">>;

/** What of the slides stays after it was released, at most; what is not said is all that a run can have. */
export type Budget = Pick<ClientOptions<typeof schema>, "releasedParts" | "releasedRows">;

interface Loader {
  readonly name: string;
  readonly budget: Budget;
  readonly client: SyncClient<typeof schema>;
}

export const isSamePart = (a: PartOfSlides, b: PartOfSlides): boolean => JSON.stringify(a) === JSON.stringify(b);

/** Whether a slide, by its data with the id, meets the conditions of one of these parts. */
export function isInOne(parts: readonly PartOfSlides[]): (data: JsonObject) => boolean {
  const each = parts.map((part) => compileConditions("slide", schema.models.slide, part));
  return (data) => each.some((meets) => meets(data));
}

/** Says what is wrong if a tab that has just loaded a part keeps these released ones beside it. */
export function overBudget({ name, budget, client }: Loader, kept: readonly PartOfSlides[]): string | undefined {
  const { releasedParts = 20, releasedRows = 20_000 } = budget;
  if (kept.length > releasedParts)
    return `${name} loaded a part and keeps ${kept.length} released ones, not ${releasedParts}: ${JSON.stringify(kept)}`;
  // Writes on their way may show rows that no part has.
  const shown = client.models.slide.list({ archived: "with" });
  if (client.pending().length > 0 || shown.length <= releasedRows) return undefined;
  const rows = kept.flatMap((part) => shown.filter((row) => isInOne([part])({ ...row } as JsonObject)));
  if (rows.length <= releasedRows) return undefined;
  return `${name} loaded a part and keeps ${rows.length} rows of released ones, not ${releasedRows}`;
}
