import type { IncomingHttpHeaders } from "node:http";

const loopbackAddresses = new Set(["127.0.0.1", "::1", "::ffff:127.0.0.1"]);
const loopbackNames = new Set(["localhost", "127.0.0.1", "[::1]"]);

/**
 * Whether a request comes from a page that this server served to this machine. The Host header stops a name that was
 * re-bound to 127.0.0.1; Sec-Fetch-Site, which no page can forge, stops other sites and other ports.
 */
export function isFromOurPage(headers: IncomingHttpHeaders, remoteAddress: string | undefined): boolean {
  const name = (headers.host ?? "").replace(/:\d+$/, "");
  return (
    loopbackAddresses.has(remoteAddress ?? "") &&
    loopbackNames.has(name) &&
    headers["sec-fetch-site"] === "same-origin" &&
    (headers.origin === undefined || headers.origin === `http://${headers.host}`)
  );
}
