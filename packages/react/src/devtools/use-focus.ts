import { type RefObject, useEffect, useRef } from "react";

/** Gives what is in a place the focus when it comes, and gives it back to whoever had it when that goes. */
export function useFocus(place: RefObject<HTMLElement | null>, selector: string, isWanted: boolean): void {
  const before = useRef<Element | null>(null);
  useEffect(() => {
    if (!isWanted) return;
    // Once: StrictMode comes twice.
    before.current ??= document.activeElement;
    place.current?.querySelector<HTMLElement>(selector)?.focus();
    return () => {
      // The focus that went with the panel. One that is elsewhere stays there.
      if (document.activeElement === document.body && before.current instanceof HTMLElement) before.current.focus();
    };
  }, [place, selector, isWanted]);
}
