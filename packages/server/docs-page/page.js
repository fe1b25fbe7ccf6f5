// Draws /openapi.json with Swagger UI; with a token also the models of its tenant. The token is kept nowhere.
const { SwaggerUIBundle } = window;
const form = document.querySelector("form");
const said = document.querySelector("#said");

const dark = window.matchMedia("(prefers-color-scheme: dark)");
const adopt = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", adopt);
adopt();

/** @param {string} token */
async function draw(token) {
  const answer = await fetch("openapi.json", { headers: token === "" ? {} : { authorization: `Bearer ${token}` } });
  const description = await answer.json();
  if (!answer.ok) {
    said.textContent = description.message;
    return;
  }
  // Requests go to where this page came from, whatever address the server tells others.
  description.servers = [{ url: new URL(".", window.location.href).href.replace(/\/$/, "") }];
  const page = SwaggerUIBundle({
    spec: description,
    dom_id: "#description",
    deepLinking: true,
    // With a whole tenant's models there are more operations than Swagger UI opens at once: it then draws a few and stops.
    docExpansion: token === "" ? "list" : "none",
    defaultModelsExpandDepth: 0,
    displayRequestDuration: true,
    requestSnippetsEnabled: true,
    showCommonExtensions: true,
    validatorUrl: null,
    onComplete: () => {
      if (token === "") return;
      page.preauthorizeApiKey("token", token);
      page.preauthorizeApiKey("secretKey", token);
    },
  });
  if (token !== "") said.textContent = "These are the routes of your tenant.";
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  void draw(form.elements.namedItem("token").value.trim());
});
void draw("");
