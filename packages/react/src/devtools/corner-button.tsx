import { type ReactElement, useRef } from "react";
import { useSyncStatus } from "../hooks/use-sync-status.ts";
import { describeStatus } from "./sentences.ts";
import { useFocus } from "./use-focus.ts";

export function CornerButton({ takesFocus, open }: { takesFocus: boolean; open(): void }): ReactElement {
  const place = useRef<HTMLDivElement>(null);
  useFocus(place, "button", takesFocus);
  const status = useSyncStatus();
  const { name, pending, conflicts, attention } = status;
  return (
    <div ref={place}>
      <button type="button" aria-label={`Open Holdfast devtools. ${describeStatus(status)}`} onClick={open}>
        Holdfast: {name}
        {pending > 0 && `, ${pending} unsettled`}
        {conflicts + attention > 0 && `, ${conflicts + attention} to decide`}
      </button>
    </div>
  );
}
