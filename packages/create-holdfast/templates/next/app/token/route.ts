import { tokenFor } from "../../lib/backend";

/** The browser asks for its token here. Your session says who this is. */
export const POST = async () => new Response(await tokenFor("ada"));
