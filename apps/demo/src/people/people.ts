import { createContext, useCallback, useContext } from "react";
import { nameOfPerson } from "../session.ts";

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

const nameOf = (participantName: string, person: string): string =>
  participantName === `user:${person}` ? "your other browser" : nameOfParticipant(participantName);

/** The name behind `<kind>:<participant>`, also of the person who looks. */
export function nameOfParticipant(participantName: string): string {
  const [kind, ...rest] = participantName.split(":");
  const participant = rest.join(":");
  if (kind === "agent") return AGENTS[participant] ?? "an agent";
  return kind === "user" ? nameOfPerson(participant) : "someone else";
}
