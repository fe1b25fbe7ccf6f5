import { createContext, useContext } from "react";
import { nameOfPerson } from "./session.ts";

/** Who this window belongs to. */
export const PersonContext = createContext("");

/** The name behind `<kind>:<participant>`: people sign with their own. */
export function useWriterName(writtenBy: string): string {
  const person = useContext(PersonContext);
  const [kind, ...rest] = writtenBy.split(":");
  const participant = rest.join(":");
  if (kind === "agent") return "the import agent";
  if (kind !== "user") return "someone else";
  return participant === person ? "your other browser" : nameOfPerson(participant);
}
