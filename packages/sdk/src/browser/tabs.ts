import type { TabMessage } from "../core/tabs/tab-message.ts";
import type { Clock, Tabs } from "../engine/ports.ts";
import type { Call } from "./election.ts";
import { leaseElection } from "./lease-election.ts";
import { lockElection } from "./lock-election.ts";

/** A client that is alone with its store: it sends from the start and has nobody to tell. */
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

/** How long a tab that hears nothing of the others leaves the lead to the one that took it. */
const APART_MS = 10_000;

/** Tabs that share a store and cannot talk: they lead in turns, so that what each has put on disk is sent. */
export function apart(clock: Clock): Tabs {
  const { start, post, ...one } = alone();
  let leads = false;
  let calledOff = () => {};
  const lead = () => {
    leads = true;
    one.campaign(true);
  };
  return {
    start,
    post,
    campaign(wanted) {
      calledOff();
      // It stands again although it led: another tab took the lead.
      if (wanted && leads) calledOff = clock.wait(APART_MS, lead);
      else if (wanted) lead();
      else leads = false;
    },
    close: () => calledOff(),
  };
}

/** The tabs of one browser profile share a store: they talk over a channel, and elect the one that leads. */
export function browserTabs(store: string, clock: Clock): Tabs {
  if (typeof navigator === "undefined") return alone();
  if (typeof BroadcastChannel === "undefined") return apart(clock);
  const name = `holdfast:${store}`;
  const channel = new BroadcastChannel(name);
  const say = (message: TabMessage | Call) => channel.postMessage(message);
  let listener: Parameters<Tabs["start"]>[0] | undefined;
  // Pages that are not secure have no locks, nor have old browsers.
  const election = (navigator.locks ? lockElection : leaseElection)({
    name,
    clock,
    say,
    elected: () => listener?.lead(),
    replaced: () => listener?.fenced(),
  });
  return {
    start(given) {
      listener = given;
      channel.onmessage = ({ data }: MessageEvent<TabMessage | Call>) => {
        if (data.type === "call" || data.type === "here" || data.type === "gone") election.heard(data);
        else given.heard(data);
      };
    },
    campaign: (wanted) => election.campaign(wanted),
    post: say,
    close() {
      election.close();
      listener = undefined;
      channel.close();
    },
  };
}
