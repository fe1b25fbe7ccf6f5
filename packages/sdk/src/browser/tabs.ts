import type { PostedMessage } from "../core/tabs/tab-message.ts";
import type { Clock, Tabs } from "../engine/ports.ts";
import type { Call } from "./election.ts";
import { leaseElection } from "./lease-election.ts";
import { lockElection } from "./lock-election.ts";

/** A client that does not share its store: it leads from the start and sends no messages. */
export function alone(): Tabs {
  let lead = () => {};
  return {
    start: (listener) => {
      lead = listener.lead;
    },
    campaign: (wanted) => void (wanted && lead()),
    post: () => {},
    close: () => {},
  };
}

/** How long a tab without a channel leaves the lead to the tab that took it. */
const APART_MS = 10_000;

/** Tabs that share a store but have no channel. They lead alternately, so that each tab's stored writes are sent. */
export function apart(clock: Clock): Tabs {
  const { start, post, ...one } = alone();
  let leads = false;
  let cancelTimer = () => {};
  const lead = () => {
    leads = true;
    one.campaign(true);
  };
  return {
    start,
    post,
    campaign(wanted) {
      cancelTimer();
      // It campaigns again although it led: another tab took the lead.
      if (wanted && leads) cancelTimer = clock.wait(APART_MS, lead);
      else if (wanted) lead();
      else leads = false;
    },
    close: () => cancelTimer(),
  };
}

/** Tabs of one browser profile that share a store. They communicate over a BroadcastChannel and elect a leader. */
export function browserTabs(store: string, clock: Clock): Tabs {
  if (typeof navigator === "undefined") return alone();
  if (typeof BroadcastChannel === "undefined") return apart(clock);
  const name = `holdfast:${store}`;
  const channel = new BroadcastChannel(name);
  const post = (message: PostedMessage | Call) => channel.postMessage(message);
  let listener: Parameters<Tabs["start"]>[0] | undefined;
  // Insecure contexts and old browsers have no locks.
  const election = (navigator.locks ? lockElection : leaseElection)({
    name,
    clock,
    post,
    elected: () => listener?.lead(),
    replaced: () => listener?.fenced(),
  });
  return {
    start(given) {
      listener = given;
      channel.onmessage = ({ data }: MessageEvent<PostedMessage | Call>) => {
        if (data.type === "call" || data.type === "here" || data.type === "gone") election.received(data);
        else given.received(data);
      };
    },
    campaign: (wanted) => election.campaign(wanted),
    post,
    close() {
      election.close();
      listener = undefined;
      channel.close();
    },
  };
}
