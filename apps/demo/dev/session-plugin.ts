import type { IncomingMessage } from "node:http";
import type { Plugin } from "vite";
import { readDemoFile } from "./demo-file.ts";
import { isFromOurPage } from "./our-page.ts";
import type { PageServer } from "./page-server.ts";
import { personToken } from "./person-tokens.ts";
import { type Answer, sendAnswer } from "./send-answer.ts";

/**
 * `GET /session?person=ada` tells this page where the server is and which token to use. It is the backend of this app:
 * it holds the secret key and mints short-lived tokens with a scope. Only signing in is left out: the page trusts
 * the name that it is given on this machine.
 */
export function sessionPlugin(): Plugin {
  return {
    name: "holdfast-demo-session",
    configureServer: serve,
    configurePreviewServer: serve,
  };
}

function serve({ middlewares }: PageServer): void {
  middlewares.use("/session", (request, response) => {
    void sendAnswer(response, answer(request));
  });
}

async function answer(request: IncomingMessage): Promise<Answer> {
  if (request.method !== "GET") return { status: 405, body: "This address answers GET." };
  if (!isFromOurPage(request.headers, request.socket.remoteAddress)) {
    return { status: 403, body: "Tokens are given to this demo’s own page only." };
  }
  const person = new URL(request.url ?? "", "http://page").searchParams.get("person") ?? "";
  if (!/^[a-z]{1,20}$/.test(person)) return { status: 400, body: "person is a name of 1 to 20 letters a-z." };
  const { serverUrl } = await readDemoFile();
  if (!serverUrl) return { status: 503, body: "The server is not running yet. Start the demo with npm start." };
  return { status: 200, body: { url: serverUrl, token: await personToken(serverUrl, person) } };
}
