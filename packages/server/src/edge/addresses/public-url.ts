import type { DocUrl } from "../envelope/envelope.ts";

/** The base of links in responses. Never taken from a request, so that a client cannot control where our links lead. */
export interface PublicUrl {
  /** Without a trailing slash; empty until it is known. */
  base(): string;
  readonly docUrl: DocUrl;
  /** Called once the server listens. Used only if no public URL was configured. */
  listeningAt(url: string): void;
}

export function createPublicUrl(configured: string | undefined): PublicUrl {
  let base = configured;
  return {
    base: () => base ?? "",
    docUrl: (code) => `${base ?? ""}/docs/errors#${code}`,
    listeningAt: (url) => {
      base ??= url;
    },
  };
}
