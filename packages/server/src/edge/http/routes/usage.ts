import type { ReadUsage } from "../../../kernel/organizations/flows/read-usage.ts";
import { isRefusal } from "../../../kernel/refusal.ts";
import type { Handlers } from "../answer.ts";

export const usageRoutes = (readUsage: ReadUsage): Pick<Handlers, "readUsage"> => ({
  readUsage: async ({ principal, query: { one } }) => {
    const usage = await readUsage(principal.tenant, one.starting_at, one.ending_at);
    return isRefusal(usage)
      ? { refusal: usage }
      : { value: { object: "list", data: usage, has_more: false, next_cursor: null } };
  },
});
