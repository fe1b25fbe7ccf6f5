import { useCallback, useEffect, useRef } from "react";
import type { useClaim } from "../sync.ts";
import { afterPaint } from "./after-paint.ts";

/** A person who has stopped typing does not keep the slide from others. */
const IDLE_MS = 20_000;
/** A turn that was waited for may come while one looks elsewhere. */
const UNUSED_MS = 60_000;

/**
 * A slide is claimed from the first letter on, not for being looked at, and given up with Enter, Escape, when its last
 * field is left, or after a while without a letter. What was typed is saved first: the claim lasts until it is there.
 */
export function useEditing({ status, claim, release }: ReturnType<typeof useClaim>): { begin(): void; end(): void } {
  const idle = useRef<ReturnType<typeof setTimeout>>(undefined);
  const hasBegun = useRef(false);
  const latest = useRef(status);

  const end = useCallback(() => {
    clearTimeout(idle.current);
    // A person who only waits for the claim keeps waiting.
    if (hasBegun.current) release();
    hasBegun.current = false;
  }, [release]);
  const goOn = useCallback(
    (ms: number) => {
      clearTimeout(idle.current);
      idle.current = setTimeout(end, ms);
      hasBegun.current = true;
    },
    [end],
  );
  const begin = useCallback(() => {
    goOn(IDLE_MS);
    if (latest.current === "mine" || latest.current === "waiting") return;
    afterPaint(() => {
      if (hasBegun.current) claim();
    });
  }, [claim, goOn]);

  useEffect(() => {
    latest.current = status;
    if (status === "mine" && !hasBegun.current) goOn(UNUSED_MS);
  }, [status, goOn]);
  useEffect(() => () => clearTimeout(idle.current), []);
  return { begin, end };
}
