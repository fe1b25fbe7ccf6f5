import { type Static, Type } from "typebox";

/** How often something happened on one UTC day; days without it are left out. */
export const Usage = Type.Object({
  /** `2026-01-31` */
  day: Type.String(),
  /** `commits`, `operations`, `reads`, `webhook_deliveries`; more may come. */
  event_name: Type.String(),
  count: Type.Integer(),
});
export type Usage = Static<typeof Usage>;
