import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { webhookLimits } from "@holdfast/sdk/protocol";
import { isPublicAddress } from "../../kernel/connection/public-address.ts";
import { isRefusal, type Refusal, refuse } from "../../kernel/refusal.ts";

/** Returns the canonical form of a webhook URL, or a refusal. */
export type CheckUrl = (text: string) => Promise<string | Refusal>;

/**
 * Ports of Postgres, MySQL and similar. They never receive webhooks, and some of these servers run arbitrary bytes as
 * commands.
 */
const DATABASE_PORTS = new Set([1433, 3306, 5432, 6379, 9200, 11211, 27017]);
const LOOKUP_MS = 2_000;

/** `param`: the field of the body that has the URL. */
export function createUrlCheck({
  allowPrivate,
  param,
}: {
  readonly allowPrivate: boolean;
  readonly param: string;
}): CheckUrl {
  return async (text) => {
    const url = readUrl(text, allowPrivate, param);
    if (isRefusal(url)) return url;
    if (!allowPrivate && !(await isPublicHost(hostOf(url)))) return refuse("blocked_address", { param });
    return url.href;
  };
}

function readUrl(text: string, allowPrivate: boolean, param: string): URL | Refusal {
  const no = (message: string) => refuse("invalid_url", { param, message: `"${param}" ${message}.` });
  if (text.length > webhookLimits.urlLength) return no(`must have at most ${webhookLimits.urlLength} characters`);
  // Stricter than a browser, which would accept `https:///x` and take `x` as the host.
  const url = /^https?:\/\/[^/\\?#\s][^\\\s]*$/i.test(text) ? parsed(text) : undefined;
  if (!url) return no("must be an https URL");
  if (url.protocol !== "https:" && !allowPrivate) return no("must begin with https://");
  // Also refuses empty credentials, which URL parsers hide.
  if (/^[^/]*\/\/[^/?#]*@/.test(text)) return no("must not contain a user or a password");
  const port = Number(url.port) || (url.protocol === "https:" ? 443 : 80);
  const isUsual = url.port === "";
  if (!isUsual && (port < 1024 || DATABASE_PORTS.has(port))) return no(`must not be on port ${port}`);
  url.hash = "";
  return url;
}

/** Not `URL.canParse`: in Node 20, once it has been called often, it refuses every URL with a letter like ü. */
function parsed(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");

/** Whether a name or address leads to public addresses only. */
export async function isPublicHost(host: string): Promise<boolean> {
  if (isIP(host) !== 0) return isPublicAddress(host);
  // Names that exist only inside a network.
  if (!host.includes(".") || host.includes("/") || /\.(localhost|local|internal|home\.arpa)$/.test(host)) return false;
  const found = await Promise.race([lookup(host, { all: true }).catch(() => []), nothingAfter(LOOKUP_MS)]);
  // A name that does not resolve yet may do so later. It is checked again at every connection.
  return found.every(({ address }) => isPublicAddress(address));
}

const nothingAfter = (ms: number): Promise<[]> => new Promise((resolve) => setTimeout(resolve, ms, []).unref());
