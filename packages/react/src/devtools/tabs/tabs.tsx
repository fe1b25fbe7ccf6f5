import { type KeyboardEvent, type ReactElement, type ReactNode, useId, useRef, useState } from "react";

/** Tabs with the usual keyboard support: arrows, Home and End select a tab, the Tab key moves into its content. */
export function Tabs({ tabs }: { tabs: readonly { name: string; body: ReactNode }[] }): ReactElement {
  const [at, setAt] = useState(0);
  const list = useRef<HTMLDivElement>(null);
  const id = useId();

  function onKeyDown(event: KeyboardEvent): void {
    const last = tabs.length - 1;
    const to = { ArrowRight: at === last ? 0 : at + 1, ArrowLeft: at === 0 ? last : at - 1, Home: 0, End: last }[
      event.key
    ];
    if (to === undefined) return;
    event.preventDefault();
    setAt(to);
    list.current?.querySelectorAll("button")[to]?.focus();
  }

  return (
    <>
      <div ref={list} role="tablist" aria-label="What is shown" className="hd-tabs" onKeyDown={onKeyDown}>
        {tabs.map(({ name }, each) => (
          <button
            key={name.replace(/ \(.*/, "")}
            type="button"
            role="tab"
            id={`${id}-${each}`}
            aria-selected={each === at}
            aria-controls={`${id}-body`}
            tabIndex={each === at ? 0 : -1}
            onClick={() => setAt(each)}
          >
            {name}
          </button>
        ))}
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a tab's body that scrolls has to be reached by keyboard. */}
      <div role="tabpanel" id={`${id}-body`} aria-labelledby={`${id}-${at}`} className="hd-body" tabIndex={0}>
        {tabs[at]?.body}
      </div>
    </>
  );
}
