import type { Page } from "@playwright/test";

/** How a page sends writes: in an HTTP request, or in a call on its stream. */
export const ways = ["request", "call"] as const;
export type Way = (typeof ways)[number];

/** The addresses of streams. */
export const isStream = /\/v1\/stream$/;

/** Whether a request sends writes. */
export const sendsWrites = (url: string): boolean => /\/commits(\/bulk)?$/.test(url);

/** The number of the call by which a frame sends writes. */
export function callThatWrites(frame: string | Buffer): number | undefined {
  const { frame: kind, name, n } = JSON.parse(String(frame)) as { frame: string; name?: string; n?: number };
  return kind === "call" && (name === "commit" || name === "commitBulk") ? n : undefined;
}

/** Reports each time that a page sends writes. The page may not have a stream yet. */
export function watchWrites(page: Page, onSent: (way: Way) => void): void {
  page.on("request", (request) => {
    if (sendsWrites(request.url())) onSent("request");
  });
  page.on("websocket", (socket) => {
    if (!isStream.test(socket.url())) return;
    socket.on("framesent", ({ payload }) => {
      if (callThatWrites(payload) !== undefined) onSent("call");
    });
  });
}
