/** A slide's place in its deck: `order` first, then the id, as the server and every client sort it. */
export interface Placed {
  readonly id: string;
  readonly order: number;
}

/** What to write so that a slide changes places: usually its own new order alone, so that a move is one small edit. */
export type Move = readonly { readonly id: string; readonly order: number }[];

/** The order that puts a new slide behind all others. */
export const orderAtEnd = (slides: readonly Placed[]): number => Math.floor(slides.at(-1)?.order ?? 0) + 1;

/** Moves the slide at `from` to stand at `to`; nothing when there is no such place. */
export function moveSlide(slides: readonly Placed[], from: number, to: number): Move {
  const moved = slides[from];
  if (!moved || from === to || to < 0 || to >= slides.length) return [];
  const others = slides.filter((slide) => slide !== moved);
  const order = between(others[to - 1]?.order, others[to]?.order);
  if (order !== undefined) return [{ id: moved.id, order }];
  // No number fits between the neighbours (equal orders, or halved too often): count the whole deck anew.
  const inOrder = [...others.slice(0, to), moved, ...others.slice(to)];
  return inOrder
    .map((slide, at) => ({ id: slide.id, order: at + 1, was: slide.order }))
    .filter((slide) => slide.order !== slide.was)
    .map(({ id, order: counted }) => ({ id, order: counted }));
}

function between(before: number | undefined, after: number | undefined): number | undefined {
  if (before === undefined) return after === undefined ? 1 : after - 1;
  if (after === undefined) return before + 1;
  const middle = (before + after) / 2;
  return middle > before && middle < after ? middle : undefined;
}
