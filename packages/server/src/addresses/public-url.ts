import type { DocUrl } from "../envelope/envelope.ts";

/** The address that answers tell of. Never taken from a request: whoever asks does not decide where our links lead. */
export interface PublicUrl {
  /** Without a slash at its end; empty until it is known. */
  base(): string;
  readonly docUrl: DocUrl;
  /** Known only when the server listens; counts when no other address was configured. */
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
