// The page /docs: Swagger UI with its own dark theme where the browser prefers one.
const dark = matchMedia("(prefers-color-scheme: dark)");
const follow = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", follow);
follow();
window.SwaggerUIBundle({
  url: "openapi.json", // relative, so that it also works below a path of a proxy
  dom_id: "#swagger-ui",
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  validatorUrl: null, // would send the document to another site
});
