import { createHmac, timingSafeEqual } from "node:crypto";

/** Opaque cursors, signed and bound to the list they came from: another model, order or organization refuses them. */
export interface PageCursors {
  seal(context: string, end: object): string;
  open(context: string, cursor: string): unknown;
}

export function pageCursors(key: Buffer): PageCursors {
  const sign = (context: string, body: string) =>
    createHmac("sha256", key).update(`${context}\n${body}`).digest().subarray(0, 16).toString("base64url");
  return {
    seal: (context, end) => {
      const body = Buffer.from(JSON.stringify(end)).toString("base64url");
      return `${body}.${sign(context, body)}`;
    },
    /** What was sealed, or undefined for any other text. */
    open: (context, cursor) => {
      const [body = "", signature = "", ...rest] = cursor.split(".");
      // As text: several spellings of base64 say the same bytes.
      const given = Buffer.from(signature);
      const wanted = Buffer.from(sign(context, body));
      if (rest.length > 0 || given.length !== wanted.length || !timingSafeEqual(given, wanted)) return undefined;
      return JSON.parse(Buffer.from(body, "base64url").toString("utf8")) as unknown;
    },
  };
}
