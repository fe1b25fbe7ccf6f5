export { offlineStart } from "./offline-start.ts";
