import type { Actions, Inputs, Mounted, Used } from "../board.ts";

/** A component on the page, and what the test does with it. */
export function mountedOn<T>(
  place: HTMLElement,
  rendered: readonly T[],
  used: () => Used<T> | undefined,
  { change, unmount }: { change: (inputs: Partial<Inputs>) => void; unmount: () => void },
): Mounted<T> {
  const act = <N extends keyof Actions>(name: N): Actions[N] =>
    ((...args: Parameters<Actions[N]>) => {
      const action = used()?.[name] as ((...args: Parameters<Actions[N]>) => void) | undefined;
      if (!action) throw new Error(`The component has no ${name}.`);
      action(...args);
    }) as Actions[N];
  return {
    rendered,
    read: () => used()?.read(),
    text: () => place.textContent ?? "",
    change,
    unmount() {
      unmount();
      place.remove();
    },
    create: act("create"),
    claim: act("claim"),
    release: act("release"),
    set: act("set"),
    takeTheirs: act("takeTheirs"),
  };
}

export function placeOnPage(): HTMLElement {
  const place = document.createElement("main");
  document.body.append(place);
  return place;
}
