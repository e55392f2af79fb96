// The page /docs: Swagger UI with its own dark theme where the browser prefers one.
const dark = matchMedia("(prefers-color-scheme: dark)");
const follow = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", follow);
follow();
// Swagger UI names none of its lists, and keyboards cannot scroll its examples.
new MutationObserver(() => {
  for (const list of document.querySelectorAll("select:not([aria-label])"))
    list.setAttribute("aria-label", list.closest("tr")?.dataset.paramName ?? "Example");
  for (const example of document.querySelectorAll("pre.example:not([tabindex])"))
    example.tabIndex = 0;
}).observe(document.getElementById("swagger-ui"), { childList: true, subtree: true });
window.SwaggerUIBundle({
  url: "openapi.json", // relative, so that it also works below a path of a proxy
  dom_id: "#swagger-ui",
  deepLinking: false, // its links lie within buttons, which screen readers cannot tell apart
  defaultModelsExpandDepth: 0,
  validatorUrl: null, // would send the document to another site
});
