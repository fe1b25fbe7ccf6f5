import type { StreamModules } from "../../../edge/socket/stream-module.ts";
import type { ProposalHub } from "./proposal-hub.ts";

const NEWS = JSON.stringify({ frame: "proposals" });

/** Streams that ask for it are told when proposals change that they may see. What has changed, they read. */
export const proposalsOnStreams = (hub: ProposalHub): StreamModules => ({
  frames: ["proposals"],
  open({ principal, notify }) {
    let stop: (() => void) | undefined;
    let hasEnded = false;
    return {
      begin: async () => {},
      async receive() {
        const who = principal();
        if (!who || stop || hasEnded) return undefined;
        const end = await hub.listen(who.tenant, principal, () => notify(NEWS));
        if (hasEnded) end();
        else stop = end;
        return undefined;
      },
      end() {
        hasEnded = true;
        stop?.();
      },
    };
  },
});
