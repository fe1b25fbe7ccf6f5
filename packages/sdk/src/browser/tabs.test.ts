import { afterEach, expect, test, vi } from "vitest";
import { fakeClock } from "../testing/fake-clock.ts";
import { apart, browserTabs } from "./tabs.ts";

afterEach(() => {
  vi.unstubAllGlobals();
});

test("[Q42] a tab without a channel leaves the lead for 10 s to the tab that took it", () => {
  const clock = fakeClock();
  const tabs = apart(clock);
  const lead = vi.fn();
  tabs.start({ lead, fenced: () => {}, received: () => {} });
  tabs.campaign(true);
  expect(lead).toHaveBeenCalledTimes(1);
  tabs.campaign(true);
  clock.advance(9_999);
  expect(lead).toHaveBeenCalledTimes(1);
  clock.advance(1);
  expect(lead).toHaveBeenCalledTimes(2);
  // Paused and resumed by the app: no other tab took the lead.
  tabs.campaign(false);
  tabs.campaign(true);
  expect(lead).toHaveBeenCalledTimes(3);
  tabs.campaign(true);
  tabs.close();
  expect(clock.waiting).toBe(0);
});

test("[Q42] on a platform without BroadcastChannel the tabs lead in turns", () => {
  vi.stubGlobal("navigator", {});
  vi.stubGlobal("BroadcastChannel", undefined);
  const clock = fakeClock();
  const tabs = browserTabs("store", clock);
  const lead = vi.fn();
  tabs.start({ lead, fenced: () => {}, received: () => {} });
  tabs.campaign(true);
  tabs.campaign(true);
  expect(lead).toHaveBeenCalledTimes(1);
  clock.advance(10_000);
  expect(lead).toHaveBeenCalledTimes(2);
  tabs.close();
});
