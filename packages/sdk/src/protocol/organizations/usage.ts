import { type Static, Type } from "typebox";

/** A count for one UTC day; days without events are omitted. */
export const Usage = Type.Object({
  /** `2026-01-31` */
  day: Type.String(),
  /** `commits`, `operations`, `reads`, `webhook_deliveries`; there may be more in future. */
  event_name: Type.String(),
  count: Type.Integer(),
});
export type Usage = Static<typeof Usage>;
