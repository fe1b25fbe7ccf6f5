import { createHmac, timingSafeEqual } from "node:crypto";

/** Opaque cursors, signed and bound to their list: a list of another model, order or organization refuses them. */
export interface PageCursors {
  encode(context: string, end: object): string;
  decode(context: string, cursor: string): unknown;
}

export function pageCursors(key: Buffer): PageCursors {
  const sign = (context: string, body: string) =>
    createHmac("sha256", key).update(`${context}\n${body}`).digest().subarray(0, 16).toString("base64url");
  return {
    encode: (context, end) => {
      const body = Buffer.from(JSON.stringify(end)).toString("base64url");
      return `${body}.${sign(context, body)}`;
    },
    /** The encoded value. Undefined for any text that was not signed here. */
    decode: (context, cursor) => {
      const [body = "", signature = "", ...rest] = cursor.split(".");
      // Compare as text: several base64 spellings decode to the same bytes.
      const given = Buffer.from(signature);
      const wanted = Buffer.from(sign(context, body));
      if (rest.length > 0 || given.length !== wanted.length || !timingSafeEqual(given, wanted)) return undefined;
      return JSON.parse(Buffer.from(body, "base64url").toString("utf8")) as unknown;
    },
  };
}
