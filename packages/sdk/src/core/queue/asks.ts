import type { Decide } from "../../protocol/changes/decide.ts";
import type { Propose } from "../../protocol/changes/propose.ts";

/** What a write is, if it is not a write of its author's own. */
export interface Asks {
  /** It asks for the write. */
  readonly propose?: Propose | undefined;
  /** It decides a proposal. */
  readonly decide?: Decide | undefined;
}

/** Whether it writes nothing now, so that nothing of it is shown. */
export const asksOnly = ({ asks }: { readonly asks?: Asks | undefined }): boolean =>
  asks?.propose !== undefined || asks?.decide?.how === "reject";
