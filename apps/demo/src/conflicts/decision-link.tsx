import type { ReactNode } from "react";

/** A link to the decision that a slide waits for; without a slide, to the first there is. */
export function DecisionLink({ slide = "", children }: { slide?: string; children: ReactNode }) {
  const href = DECIDE + slide;
  return (
    <a
      href={href}
      onClick={(event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        // No step in the history: going back must not ask again.
        location.replace(href);
      }}
    >
      {children}
    </a>
  );
}

const DECIDE = "#decide-";

/** The slide in the address whose decision is asked for (empty: any slide's); undefined: none is. */
export const slideToDecide = (hash: string): string | undefined =>
  hash.startsWith(DECIDE) ? hash.slice(DECIDE.length) : undefined;
