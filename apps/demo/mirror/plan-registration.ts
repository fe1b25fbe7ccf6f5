import type { WebhookEndpoint } from "@holdfast/sdk/protocol";

/** What the mirror stores of its registration. The server returns the secret only once. */
export interface KeptEndpoint {
  readonly id: string;
  readonly url: string;
  readonly secret: string;
}

export type RegistrationStep =
  | { readonly do: "register"; readonly from: number }
  | { readonly do: "delete" | "roll" | "enable"; readonly id: string }
  | { readonly do: "move"; readonly id: string; readonly url: string };

export interface Found {
  readonly kept: KeptEndpoint | undefined;
  readonly endpoints: readonly Pick<WebhookEndpoint, "id" | "url" | "status" | "attempt" | "cursor" | "description">[];
  /** How this mirror calls itself. */
  readonly name: string;
  /** Where it listens now. */
  readonly url: string;
  /** How far its copy has come. */
  readonly position: number;
}

/** What has to be done so that exactly one endpoint delivers here, from where the copy ends. */
export function planRegistration({ kept, endpoints, name, url, position }: Found): RegistrationStep[] {
  const ours = endpoints.filter(({ id, description }) => id === kept?.id || description === name);
  const known = ours.find(({ id }) => id === kept?.id);
  const found = known ?? ours[0];
  // What was delivered to a copy that is gone does not come again: a cursor only goes forward.
  const goesOn = found !== undefined && found.cursor <= position;
  const others = ours.filter((endpoint) => !goesOn || endpoint !== found);
  const removed = others.map(({ id }): RegistrationStep => ({ do: "delete", id }));
  if (!goesOn) return [...removed, { do: "register", from: position }];
  const { id } = found;
  return [
    ...removed,
    ...(found === known ? [] : [{ do: "roll", id } as const]),
    ...(found.url === url ? [] : [{ do: "move", id, url } as const]),
    // It gave up on, or waits for, one that failed; this one has just been started.
    ...(found.status === "enabled" && found.attempt === 0 ? [] : [{ do: "enable", id } as const]),
  ];
}
