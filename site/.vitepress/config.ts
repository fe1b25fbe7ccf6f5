export { config as default } from "../config.ts";
