import { expect, test } from "vitest";
import type { ProofreadEvent } from "./proofread-event.ts";
import { NEW_REPORT, reportSentence, stopped, withEvent } from "./proofread-report.ts";

const changed = (slide: string): ProofreadEvent => ({
  type: "changed",
  slide,
  fields: [{ field: "title", before: "teh", after: "the" }],
});
const after = (...events: readonly ProofreadEvent[]) => events.reduce(withEvent, NEW_REPORT);

test.each([
  ["at the start", after(), "The proofreader is reading: 0 slides changed so far."],
  ["after one", after({ type: "at", slide: "a" }, changed("a")), "The proofreader is reading: 1 slide changed so far."],
  ["at the end", after(changed("a"), changed("b"), changed("c"), { type: "done" }), "Done, 3 slides changed."],
  [
    "with one left",
    after(changed("a"), { type: "left", slide: "b" }, { type: "done" }),
    "Done, 1 slide changed, 1 slide left to people.",
  ],
  ["cut off", stopped(after(changed("a")), ""), "The proofreader stopped early: 1 slide changed."],
  ["refused", stopped(after(), "It is at work already."), "It is at work already."],
])("[Y13] a run's report, %s", (_, report, sentence) => {
  expect(reportSentence(report)).toBe(sentence);
});

test("[Y13] the slide that the proofreader works on is known until it is done", () => {
  const working = after({ type: "at", slide: "a" });
  expect(working.at).toBe("a");
  expect(withEvent(working, { type: "done" }).at).toBeUndefined();
  expect(stopped(working, "").at).toBeUndefined();
});

test("[Y13] a run that is done is not stopped by the end of its answer", () => {
  expect(stopped(after({ type: "done" }), "").state).toBe("done");
});
