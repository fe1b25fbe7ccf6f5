/** What this window needs to know of the server, as its own backend tells it (see dev/session-plugin.ts). */
export interface Session {
  readonly url: string;
  /** Ends after a while; then another is asked for. */
  readonly token: string;
}

/** Whose window this is: `?person=ada`. Each person has a local copy of their own. */
export function personOf(search: string): string {
  const asked = new URLSearchParams(search).get("person")?.toLowerCase() ?? "";
  return /^[a-z]{1,20}$/.test(asked) ? asked : "ada";
}

export const nameOfPerson = (person: string): string => person.charAt(0).toUpperCase() + person.slice(1);

/** Another person, for the second window. */
export const somebodyElse = (person: string): string => (person === "ada" ? "ben" : "ada");

export async function openSession(person: string): Promise<Session> {
  const answer = await fetch(`/session?person=${encodeURIComponent(person)}`, { cache: "no-store" });
  if (!answer.ok) throw new Error((await answer.text()) || `The demo’s server answered ${answer.status}.`);
  const session = (await answer.json()) as Session;
  localStorage.setItem(ADDRESS_KEY, session.url);
  return session;
}

const ADDRESS_KEY = "holdfast-demo:server";

/** Where the sync server was when this browser last heard: with it the board opens at once, also without a network. */
export const knownServer = (): string | undefined => localStorage.getItem(ADDRESS_KEY) ?? undefined;
