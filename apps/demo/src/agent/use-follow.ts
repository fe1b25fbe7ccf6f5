import { useEffect, useRef } from "react";

/** Scrolls to the slide that the agent works on, until the person scrolls or presses a key; not while a text has the focus. */
export function useFollow(slide: string | undefined): void {
  const isLeft = useRef(false);
  useEffect(() => {
    const leave = () => {
      isLeft.current = true;
    };
    const signs = ["wheel", "touchmove", "keydown"] as const;
    for (const sign of signs) addEventListener(sign, leave, { passive: true });
    return () => {
      for (const sign of signs) removeEventListener(sign, leave);
    };
  }, []);
  useEffect(() => {
    if (slide === undefined || isLeft.current || isTyping()) return;
    document.getElementById(`slide-${slide}`)?.scrollIntoView({
      block: "start",
      behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "instant" : "smooth",
    });
  }, [slide]);
}

const isTyping = () => document.activeElement instanceof HTMLTextAreaElement;
