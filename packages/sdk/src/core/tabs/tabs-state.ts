import { type Draft, set } from "../draft.ts";
import type { OtherTabs, TabsState } from "../state.ts";

/* What is known of the other tabs. Other machines change it by these functions only. */

export function changeTabs(draft: Draft, change: Partial<OtherTabs>): void {
  set<TabsState>(draft, { tabs: { ...draft.state.tabs, ...change } });
}

/** The leader's token is another owner's and this tab's is not, so the leader is about to step down. */
export function noteLeaderLeaves(draft: Draft): void {
  const { connection } = draft.state.tabs;
  if (connection?.withheld) changeTabs(draft, { connection: { ...connection, name: "connecting", reason: undefined } });
}

/** The app uses claims or presence. */
export const wantOwnSocket = (draft: Draft): void => changeTabs(draft, { ownSocket: true });
