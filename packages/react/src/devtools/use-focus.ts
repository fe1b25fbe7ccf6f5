import { type RefObject, useEffect, useRef } from "react";

/** Focuses an element when it mounts, and restores the previous focus when it unmounts. */
export function useFocus(place: RefObject<HTMLElement | null>, selector: string, isWanted: boolean): void {
  const before = useRef<Element | null>(null);
  useEffect(() => {
    if (!isWanted) return;
    // Only once, because StrictMode runs effects twice.
    before.current ??= document.activeElement;
    place.current?.querySelector<HTMLElement>(selector)?.focus();
    return () => {
      // Restore the focus only if it was lost with the panel, not if the user has moved it.
      if (document.activeElement === document.body && before.current instanceof HTMLElement) before.current.focus();
    };
  }, [place, selector, isWanted]);
}
