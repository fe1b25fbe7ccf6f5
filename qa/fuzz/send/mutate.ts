import type { AddressMutation, BodyMutation, Mutation, TextMutation } from "../generate/mutation.ts";

/** A request while it is still taken apart. */
export interface Draft {
  readonly method: string;
  readonly segments: readonly string[];
  /** Already spelled as in an address, with their values. */
  readonly query: readonly string[];
  readonly headers: readonly (readonly [string, string])[];
  /** As JSON; undefined: none. */
  readonly body: unknown;
  /** The bytes to send in its place. */
  readonly bytes: Buffer | undefined;
  readonly hangsUp: boolean;
}

export function mutate(draft: Draft, mutation: Mutation): Draft {
  switch (mutation.kind) {
    case "set":
    case "remove":
    case "add key":
    case "rename key":
    case "wrap":
    case "repeat":
      return draft.body === undefined || draft.bytes ? draft : { ...draft, body: changed(draft.body, mutation) };
    case "cut":
    case "garbage":
    case "bad bytes":
    case "huge number":
    case "proto":
    case "double key":
    case "bom":
    case "pad":
      return draft.body === undefined ? draft : { ...draft, bytes: respelled(draft, mutation) };
    case "header":
      return { ...draft, headers: withHeaders(draft.headers, mutation.at) };
    case "method":
      return { ...draft, method: mutation.method };
    case "hang up":
      return { ...draft, hangsUp: true };
    default:
      return readdressed(draft, mutation);
  }
}

export const spelled = (body: unknown): Buffer => Buffer.from(JSON.stringify(body) ?? "");

/** The body with one of its values changed: any at all, the body itself included. */
function changed(body: unknown, { kind, at, value }: BodyMutation): unknown {
  const places = placesOf(body);
  const path = places[at % places.length] as readonly string[];
  return replaced(body, path, (found) => {
    switch (kind) {
      case "set":
        return value;
      case "remove":
        return undefined;
      case "wrap":
        return at % 2 === 0 ? [found] : { value: found };
      case "repeat":
        return Array.isArray(found) ? Array.from({ length: 1 + (at % 130) }, (_, i) => found[i % found.length]) : found;
      case "add key":
        return isObject(found) ? withKey(found, keyOf(at, value), value) : found;
      case "rename key": {
        const [name, ...others] = isObject(found) ? Object.keys(found) : [];
        if (name === undefined || !isObject(found)) return found;
        const rest = Object.fromEntries(others.map((other) => [other, found[other]]));
        return withKey(rest, at % 2 === 0 ? name.toUpperCase() : `${name} `, found[name]);
      }
    }
  });
}

const keyOf = (at: number, value: unknown): string =>
  typeof value === "string" && value.length < 200
    ? value
    : (["__proto__", "constructor", "toString", "id", "data", "x", "type", "input", "intent"][at % 9] as string);

/** Also `__proto__` as a key like any other. */
function withKey(object: Readonly<Record<string, unknown>>, key: string, value: unknown): unknown {
  return Object.defineProperty({ ...object }, key, { value, enumerable: true, configurable: true, writable: true });
}

/** Deeper ones are not worth the time that it takes to list them. */
const DEEPEST = 12;

function placesOf(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  const inner = path.length < DEEPEST && (Array.isArray(value) || isObject(value)) ? Object.entries(value) : [];
  return [path, ...inner.flatMap(([name, item]) => placesOf(item, [...path, name]))];
}

function replaced(value: unknown, [name, ...rest]: readonly string[], change: (found: unknown) => unknown): unknown {
  if (name === undefined) return change(value);
  if (Array.isArray(value)) return value.map((item, i) => (String(i) === name ? replaced(item, rest, change) : item));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, key === name ? replaced(item, rest, change) : item]),
  );
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Bytes that no `JSON.stringify` would make. */
function respelled({ body, bytes }: Draft, { kind, at }: TextMutation): Buffer {
  const text = bytes ?? spelled(body);
  const middle = at % Math.max(text.length, 1);
  const put = (extra: string | Buffer) =>
    Buffer.concat([text.subarray(0, middle), Buffer.from(extra as string), text.subarray(middle)]);
  switch (kind) {
    case "cut":
      return text.subarray(0, middle);
    case "garbage":
      return put(["}", ",", "//", "'", "\0", "NaN", "[".repeat(50_000), '\\ud800"'][at % 8] as string);
    case "bad bytes":
      return put(Buffer.from([0xff, 0xc0, 0xaf, 0xed, 0xa0, 0x80]));
    case "huge number":
      return Buffer.from(
        text.toString().replace(/\d+/, ["1e400", "9007199254740993", "-1e400", "0.1e-400"][at % 4] as string),
      );
    case "proto":
      return Buffer.from(text.toString().replace("{", '{"__proto__":{"admin":true},'));
    case "double key":
      return Buffer.from(text.toString().replace(/\{("[a-z]+":)/, "{$1null,$1"));
    case "bom":
      return Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), text]);
    case "pad":
      return Buffer.concat([text, Buffer.alloc(at % 3 === 0 ? 1_100_000 : 3_000, " ")]);
  }
}

/** Replaces the value, or adds a second one in one of five cases. */
function withHeaders(headers: Draft["headers"], at: number): Draft["headers"] {
  const odd = oddHeaders(at);
  const names = new Set(at % 5 === 0 ? [] : odd.map(([name]) => name));
  return [...headers.filter(([name]) => !names.has(name)), ...odd];
}

/** Headers that a caller has no reason to send, by number. */
function oddHeaders(at: number): [string, string][] {
  const odd: readonly (readonly [string, string])[][] = [
    [["content-type", "text/plain"]],
    [["content-encoding", "gzip"]],
    [["idempotency-key", ""]],
    [["idempotency-key", "\u00e4 b"]],
    [["idempotency-key", `"t${at % 100}"`]],
    [["idempotency-key", "x".repeat(256)]],
    [["authorization", "Bearer x"]],
    [["if-none-match", "*"]],
    [["range", "bytes=0-1"]],
    [["origin", "https://elsewhere.example"]],
    [["origin", "null"]],
    [["expect", "100-continue"]],
    [["expect", "the impossible"]],
    [["x-long", "x".repeat(17_000)]],
    Array.from({ length: 101 }, (_, i) => [`x-${i}`, "1"] as const),
    [["transfer-encoding", "chunked"]],
    [["content-length", "0"]],
    [["x-request-id", "mine"]],
    [["x-http-method-override", "DELETE"]],
    [["accept", "text/html"]],
    [["accept-encoding", "br, gzip;q=0"]],
    [["cookie", "a=b"]],
    [["connection", "close"]],
    [["te", "trailers"]],
    [["host", "elsewhere.example"]],
    [["access-control-request-method", "PATCH"]],
    [["content-type", "application/json; charset=utf-16"]],
    [["content-type", 'application/json; charset="UTF-8"']],
    [["x-latin", "\u00e9\u00ff"]],
  ];
  return (odd[at % odd.length] as [string, string][]).map(([name, value]) => [name, value]);
}

const RAW = [
  "%",
  "%zz",
  "%00",
  "%2F",
  "%c0%af",
  "%E0%A4%A",
  "//",
  "/../",
  "/./",
  ";a=b",
  "\u00e9",
  "|",
  "{}",
  "%25",
  "+",
];

function readdressed(draft: Draft, { kind, at, value }: AddressMutation): Draft {
  const { segments, query } = draft;
  const n = at % Math.max(segments.length, 1);
  const raw = RAW[at % RAW.length] as string;
  const withSegment = (segment: string) => ({
    ...draft,
    segments: segments.map((one, i) => (i === n ? segment : one)),
  });
  const q = at % Math.max(query.length, 1);
  switch (kind) {
    case "segment":
      return withSegment(encoded(value));
    case "more path":
      return { ...draft, segments: [...segments, encoded(value)] };
    case "raw path":
      return withSegment(`${segments[n] ?? ""}${raw}`);
    case "api":
      return { ...draft, segments: ["api", ...segments] };
    case "case":
      return withSegment((segments[n] ?? "").toUpperCase());
    case "parameter":
      return { ...draft, query: query.map((one, i) => (i === q ? `${one.split("=")[0]}=${encoded(value)}` : one)) };
    case "more query":
      return { ...draft, query: [...query, at % 2 === 0 ? `${encoded(value)}=1` : `limit=${encoded(value)}`] };
    case "raw query":
      return {
        ...draft,
        query: [...query, ["&&", "=", "?", "a=%", "filter[", "filter[]=", "limit[]=1", "%00=%00"][at % 8] as string],
      };
    case "repeat query":
      return { ...draft, query: [...query, ...query.slice(q, q + 1)] };
    case "less query":
      return { ...draft, query: query.filter((_, i) => i !== q) };
  }
}

/** Percent-encodes any string. A lone surrogate becomes the replacement character. */
export const encoded = (text: string): string => encodeURIComponent(text.replace(/\p{Surrogate}/gu, "\ufffd"));
