// Elements without markup: text can never become a tag.

export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === true) made.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

export const byId = (id) => document.getElementById(id);

// Writes only what changed, so that nothing is laid out, or read out, again.
export function setText(target, text) {
  if (target.textContent !== text) target.textContent = text;
}

export const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

// A table that turns into stacked rows on a phone and stays a table for screen readers: roles are spelt out.
export function table(caption, columns, rows) {
  const head = columns.map(([title, kind]) => element("th", { scope: "col", role: "columnheader", class: kind ?? "" }, title));
  const body = rows.map((cells) =>
    element("tr", { role: "row" }, ...cells.map((cell, at) => {
      const [title, kind] = columns[at];
      const first = at === 0;
      return element(
        first ? "th" : "td",
        { role: first ? "rowheader" : "cell", scope: first ? "row" : null, class: kind ?? "", "data-title": title },
        element("span", { class: "value" }, cell),
      );
    })),
  );
  return element(
    "table",
    { role: "table", class: "stack" },
    element("caption", {}, caption),
    element("thead", { role: "rowgroup" }, element("tr", { role: "row" }, ...head)),
    element("tbody", { role: "rowgroup" }, ...body),
  );
}
