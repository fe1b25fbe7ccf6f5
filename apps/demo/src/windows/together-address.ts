/** Whether this page is one of two that stand side by side. */
export const isTogether: boolean = self !== top;

/** Two people's windows on one page: `?together=ada,ben`. */
export function togetherAddress(people: readonly string[], deckId: string | undefined): string {
  return `?${new URLSearchParams({ together: people.join(","), ...(deckId && { deck: deckId }) })}`;
}

/** Who stands side by side here; empty: this is one person's window. */
export const peopleTogether = (search: string): readonly string[] =>
  (new URLSearchParams(search).get("together") ?? "").split(",").filter((name) => /^[a-z]{1,20}$/.test(name));
