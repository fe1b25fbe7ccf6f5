import { expect, test } from "vitest";
import { createBySlide } from "./by-slide.ts";

test("[Y10] only listeners of slides whose own value changed, appeared or disappeared are notified", () => {
  const states = createBySlide(
    new Map([
      ["s1", "Saving…"],
      ["s2", "Saving…"],
    ]),
  );
  const told: string[] = [];
  const offs = ["s1", "s2", "s3", "s4"].map((id) => states.follow(id, () => told.push(`${id}: ${states.get(id)}`)));
  states.show(
    new Map([
      ["s1", "Saving…"],
      ["s3", "Saving…"],
    ]),
  );
  expect(told).toEqual(["s2: undefined", "s3: Saving…"]);
  offs[0]?.();
  states.show(new Map());
  expect(told.slice(2)).toEqual(["s3: undefined"]);
});
