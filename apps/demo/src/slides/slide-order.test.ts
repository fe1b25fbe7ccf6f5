import { describe, expect, test } from "vitest";
import { moveSlide, orderAtEnd, type Placed } from "./slide-order.ts";

const deck = (...orders: number[]): Placed[] => orders.map((order, at) => ({ id: `s${at}`, order }));

function moved(slides: Placed[], from: number, to: number): string[] {
  const orders = new Map(moveSlide(slides, from, to).map(({ id, order }) => [id, order]));
  return slides
    .map((slide) => ({ id: slide.id, order: orders.get(slide.id) ?? slide.order }))
    .sort((a, b) => a.order - b.order || (a.id < b.id ? -1 : 1))
    .map((slide) => slide.id);
}

describe("moving a slide", () => {
  test("writes one order when there is room between the neighbours", () => {
    expect(moveSlide(deck(1, 2, 3), 2, 1)).toEqual([{ id: "s2", order: 1.5 }]);
    expect(moveSlide(deck(1, 2, 3), 1, 0)).toEqual([{ id: "s1", order: 0 }]);
    expect(moveSlide(deck(1, 2, 3), 0, 2)).toEqual([{ id: "s0", order: 4 }]);
  });

  test("a slide reaches the requested place from every start", () => {
    for (const slides of [deck(1, 2, 3, 4), deck(0, 0, 0, 0), deck(1, 1, 2, 2), deck(1, 1 + Number.EPSILON, 2, 3)]) {
      const ids = slides.map((slide) => slide.id);
      for (let from = 0; from < ids.length; from += 1) {
        for (let to = 0; to < ids.length; to += 1) {
          const expected = ids.toSpliced(from, 1).toSpliced(to, 0, ids[from]!);
          expect(moved(slides, from, to)).toEqual(expected);
        }
      }
    }
  });

  test("counts the deck anew only when no number fits, and writes only what changes", () => {
    expect(moveSlide(deck(1, 1, 1), 2, 1)).toEqual([
      { id: "s2", order: 2 },
      { id: "s1", order: 3 },
    ]);
  });

  test("does nothing beyond the ends", () => {
    expect(moveSlide(deck(1, 2), 0, -1)).toEqual([]);
    expect(moveSlide(deck(1, 2), 1, 2)).toEqual([]);
  });
});

test("a new slide goes behind the last", () => {
  expect(orderAtEnd([])).toBe(1);
  expect(orderAtEnd(deck(1, 7.5))).toBe(8);
});
