import { closeCodes, type FrameUp, limits } from "@holdfast/sdk/protocol";
import type { StreamModules } from "../../../edge/socket/stream-module.ts";
import { refuse } from "../../../kernel/refusal.ts";
import { claimFrameOut } from "../../../kernel/schema/rules/translate.ts";
import { checkModel } from "../../../kernel/tokens/rules/scope.ts";
import type { FollowClaims } from "../flows/follow-claims.ts";
import type { ClaimHub } from "./claim-hub.ts";
import { createClaimWatch } from "./claim-watch.ts";
import { createWatchQuota } from "./watch-quota.ts";

/** Claims on streams: those of the client's participant, and those on the records that it watches. */
export function claimsOnStreams(hub: ClaimHub, follow: FollowClaims): StreamModules {
  const quota = createWatchQuota(limits.watchedPerToken);
  return {
    frames: ["watch"],
    open({ principal, spoken, notify }) {
      const watch = createClaimWatch({
        ...{ hub, follow, share: quota.share(), reader: principal },
        notify(text) {
          const names = spoken()?.names;
          const frame = names ? claimFrameOut(names, text) : text;
          // It may be about a field that the client does not know.
          if (frame !== undefined) notify(frame);
        },
      });
      return {
        begin: async () => {
          const who = principal();
          if (who) await watch.begin(who);
        },
        async receive(frame: FrameUp) {
          const who = principal();
          if (frame.frame !== "watch" || !who) return undefined;
          const hidden = checkModel(who, frame.model);
          if (hidden) return { refusal: hidden, closeCode: closeCodes.forbidden };
          return (await watch.watch(who, frame.model, frame.ids)) === "too many" ? TOO_MANY : undefined;
        },
        end: watch.end,
      };
    },
  };
}

const TOO_MANY = {
  refusal: refuse("invalid_value", {
    param: "ids",
    message: `The sockets of a token can watch up to ${limits.watchedPerToken} records together.`,
  }),
  closeCode: closeCodes.badFrame,
};
