import type { ReactElement } from "react";
import { useOthers, usePresenceStatus, useSelf } from "../../hooks/use-presence.ts";

/** Subscribes to the rooms only while it is shown. */
export function PresenceTab({ rooms }: { rooms: readonly string[] }): ReactElement {
  if (rooms.length === 0) return <p>The app names no rooms to this panel.</p>;
  return (
    <>
      {rooms.map((room) => (
        <Room key={room} room={room} />
      ))}
    </>
  );
}

function Room({ room }: { room: string }): ReactElement {
  const status = usePresenceStatus(room);
  const self = useSelf(room);
  const others = useOthers(room);
  return (
    <>
      <h3>
        {room}: {status}, {others.length + (self ? 1 : 0)} inside
      </h3>
      <ul>
        {[...(self ? [self] : []), ...others].map(({ participant, state, sessions }) => (
          <li key={participant}>
            {participant}
            {participant === self?.participant && " (this participant)"}, {sessions.length}{" "}
            {sessions.length === 1 ? "window" : "windows"}: <code>{JSON.stringify(state)}</code>
          </li>
        ))}
      </ul>
    </>
  );
}
