import type { ClientState } from "../state.ts";

/** Whether writes wait for this tab to send them. */
export const hasToSend = ({ lead, queue }: ClientState) => lead === "yes" && queue.order.length > queue.waiting.length;
