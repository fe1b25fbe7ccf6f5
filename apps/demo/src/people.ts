import { createContext, useContext, useEffect, useState } from "react";
import { openSession } from "./session.ts";

/** Who this window belongs to, and the names known when it opened. */
export interface Us {
  readonly person: string;
  readonly participant: string;
  readonly people: Readonly<Record<string, string>>;
}

export const UsContext = createContext<Us>({ person: "", participant: "", people: {} });

/** The name behind `<kind>:<participant>`; somebody who came after this window opened is asked for once. */
export function useWriterName(writtenBy: string): string {
  const us = useContext(UsContext);
  const participant = writtenBy.slice(writtenBy.indexOf(":") + 1);
  const [late, setLate] = useState<Readonly<Record<string, string>>>({});
  const isKnown = participant in us.people || participant in late;
  useEffect(() => {
    if (isKnown) return;
    let isGone = false;
    // Without a connection nobody can be asked: "someone else" stays, and is true.
    openSession(us.person).then(
      (session) => !isGone && setLate(session.people),
      () => {},
    );
    return () => {
      isGone = true;
    };
  }, [isKnown, us.person]);
  if (participant === us.participant) return "your other browser";
  return us.people[participant] ?? late[participant] ?? "someone else";
}
