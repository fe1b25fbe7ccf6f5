import type { ReactElement } from "react";
import { useEffect, useState } from "react";
import { useClient } from "../hooks/use-client.ts";
import { none } from "../none.ts";
import { CornerButton } from "./corner-button.tsx";
import { OpenPanel } from "./open-panel.tsx";
import { createRecorder } from "./recorder.ts";
import { styles } from "./styles.ts";

export interface DevtoolsProps {
  /** Rooms whose people are shown. A panel that is open there enters them, so name those that the app is in anyway. */
  readonly rooms?: readonly string[];
  /** Records whose claims are shown, beside those that writes wait for. */
  readonly records?: readonly (readonly [model: string, id: string])[];
  /** The corner that it is in; default `bottom-right`. */
  readonly position?: "bottom-right" | "bottom-left";
  /** Whether the panel is open at first. */
  readonly defaultOpen?: boolean;
  /**
   * For an app that shows the panel when somebody asks for it: it is open, takes the focus, and closing it calls this
   * instead of leaving a button in the corner. The focus goes back to where it was.
   */
  readonly onClose?: () => void;
}

export function HoldfastDevtools({
  rooms = none,
  records = none,
  position = "bottom-right",
  defaultOpen = false,
  onClose,
}: DevtoolsProps): ReactElement | null {
  const client = useClient();
  // One for as long as the client is the same: also closed, and over StrictMode's second mount, it goes on.
  const [kept, setKept] = useState(() => ({ client, recorder: createRecorder(client) }));
  if (kept.client !== client) setKept({ client, recorder: createRecorder(client) });
  const { recorder } = kept;
  useEffect(() => recorder.start(), [recorder]);

  // What is there from the beginning takes no focus; what somebody opens or closes does.
  const [{ isOpen, isAsked }, show] = useState({ isOpen: defaultOpen, isAsked: false });
  const close = onClose ?? (() => show({ isOpen: false, isAsked: true }));

  // A server renders nothing of it, so that nothing has to be the same.
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

/** Above all of the page, wherever in it this is mounted: in the browser's top layer, if it has one. */
function toTop(place: HTMLElement | null): void {
  if (place?.showPopover && !place.matches(":popover-open")) place.showPopover();
}
