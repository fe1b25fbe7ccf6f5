import { useMyPresence, useOthers, usePresenceStatus } from "../hooks.ts";

/** Who looks at the same list. Yours to change. */
export function PeopleHere({ room, user }: { room: string; user: string }) {
  // While this component is mounted, the others see this person in the room.
  useMyPresence(room, {});
  const others = useOthers(
    room,
    (all) =>
      all.map(({ participant, participantId, participantKind }) => ({
        participant,
        name: participantKind === "user" ? participantId : `${participantId} (${participantKind})`,
      })),
    sameNames,
  );
  const isLive = usePresenceStatus(room) === "live";
  return (
    <ul className="people" aria-label="People here">
      <li>{user} (you)</li>
      {others.map(({ participant, name }) => (
        <li key={participant}>
          {name}
          {!isLive && " (last seen)"}
        </li>
      ))}
    </ul>
  );
}

type Names = readonly { readonly participant: string; readonly name: string }[];
const sameNames = (a: Names, b: Names) => a.map(({ name }) => name).join() === b.map(({ name }) => name).join();
