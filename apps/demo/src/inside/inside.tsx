import { HoldfastDevtools } from "@holdfast/react/devtools/production";
import { useMemo } from "react";
import { roomOf } from "../people/peers.tsx";
import { useQuery } from "../sync.ts";

/** A chunk of its own: nothing but `look-inside.tsx` may import it, and only when it is asked for. */
export function Inside({ deckId, close }: { deckId: string; close(): void }) {
  const ids = useQuery("slide", { where: { deckId }, orderBy: "order" }, (slides) => slides.map(({ id }) => id));
  const records = useMemo(() => ids.map((id) => ["slide", id] as const), [ids]);
  const rooms = useMemo(() => [roomOf(deckId)], [deckId]);
  // On the left: on the right is what waits and what wants a decision.
  return <HoldfastDevtools rooms={rooms} records={records} position="bottom-left" onClose={close} />;
}
