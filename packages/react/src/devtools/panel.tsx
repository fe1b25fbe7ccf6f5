import type { ReactElement } from "react";
import { useEffect, useState } from "react";
import { useClient } from "../hooks/use-client.ts";
import { none } from "../none.ts";
import { CornerButton } from "./corner-button.tsx";
import { OpenPanel } from "./open-panel.tsx";
import { createRecorder } from "./recorder.ts";
import { styles } from "./styles.ts";

export interface DevtoolsProps {
  /** Rooms to show. The open panel enters them, so name rooms that the app is in anyway. */
  readonly rooms?: readonly string[] | undefined;
  /** Records whose claims to show, besides those that writes wait for. */
  readonly records?: readonly (readonly [model: string, id: string])[] | undefined;
  /** The panel's corner; default `bottom-right`. */
  readonly position?: "bottom-right" | "bottom-left" | undefined;
  /** Whether the panel is open initially. */
  readonly defaultOpen?: boolean | undefined;
  /**
   * For an app that opens the panel on demand: it is open and takes the focus, and closing it calls this instead of
   * leaving a button in the corner. The focus then returns to the previous element.
   */
  readonly onClose?: (() => void) | undefined;
}

export function HoldfastDevtools({
  rooms = none,
  records = none,
  position = "bottom-right",
  defaultOpen = false,
  onClose,
}: DevtoolsProps): ReactElement | null {
  const client = useClient();
  // One recorder per client, which continues while the panel is closed and over StrictMode's second mount.
  const [kept, setKept] = useState(() => ({ client, recorder: createRecorder(client) }));
  if (kept.client !== client) setKept({ client, recorder: createRecorder(client) });
  const { recorder } = kept;
  useEffect(() => recorder.start(), [recorder]);

  // The panel takes the focus only if a person opens or closes it, not on the first render.
  const [{ isOpen, isAsked }, show] = useState({ isOpen: defaultOpen, isAsked: false });
  const close = onClose ?? (() => show({ isOpen: false, isAsked: true }));

  // A server renders nothing of it, which avoids hydration mismatches.
  const [isMounted, setMounted] = useState(false);
  useEffect(() => setMounted(true), []);
  if (!isMounted) return null;

  return (
    <div ref={toTop} popover="manual" className="holdfast-devtools" data-position={position}>
      <style>{styles}</style>
      {isOpen || onClose ? (
        <OpenPanel
          rooms={rooms}
          records={records}
          recorder={recorder}
          takesFocus={isAsked || onClose !== undefined}
          close={close}
        />
      ) : (
        <CornerButton takesFocus={isAsked} open={() => show({ isOpen: true, isAsked: true })} />
      )}
    </div>
  );
}

/** Shows the panel above the page, wherever it is mounted: in the browser's top layer, if available. */
function toTop(place: HTMLElement | null): void {
  if (place?.showPopover && !place.matches(":popover-open")) place.showPopover();
}
