import { createContext, useCallback, useContext } from "react";
import { nameOfPerson } from "./session.ts";

/** Who this window belongs to. */
export const PersonContext = createContext("");

/** Names behind `<kind>:<participant>`, oneself included. */
export function useNames(): (participant: string) => string {
  const person = useContext(PersonContext);
  return useCallback((participant) => nameOf(participant, person), [person]);
}

/** The name behind `<kind>:<participant>`: people sign with their own. */
export function useWriterName(writtenBy: string): string {
  return useNames()(writtenBy);
}

const AGENTS: Readonly<Record<string, string>> = { importer: "the import agent", proofreader: "the proofreader" };

function nameOf(participantName: string, person: string): string {
  const [kind, ...rest] = participantName.split(":");
  const participant = rest.join(":");
  if (kind === "agent") return AGENTS[participant] ?? "an agent";
  if (kind !== "user") return "someone else";
  return participant === person ? "your other browser" : nameOfPerson(participant);
}
