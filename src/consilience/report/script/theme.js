// Light and dark colors, and print: everything open, in light colors.
const system = matchMedia("(prefers-color-scheme: dark)");
const isDark = () => (root.style.colorScheme || (system.matches ? "dark" : "light")) === "dark";
const showTheme = () => {
  at("theme").textContent = isDark() ? "Light" : "Dark";
  at("theme").setAttribute("aria-label", isDark() ? "Light colors" : "Dark colors");
  announce("theme");
};
at("theme").addEventListener("click", () => {
  root.style.colorScheme = isDark() ? "light" : "dark";
  showTheme();
});
system.addEventListener("change", showTheme);

let before = null;
addEventListener("beforeprint", () => {
  const closed = [...document.querySelectorAll("details:not([open])")];
  before = { closed, scheme: root.style.colorScheme };
  closed.forEach((block) => (block.open = true));
  root.style.colorScheme = "light";
  announce("theme");
});
addEventListener("afterprint", () => {
  if (!before) return;
  before.closed.forEach((block) => (block.open = false));
  root.style.colorScheme = before.scheme;
  announce("theme");
});
