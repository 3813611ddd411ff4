// The legend of a panel: a button for each curve, with its value at the cursor.

const colorOf = (owner) => {
  const color = document.documentElement.dataset.theme === "dark" ? owner.dark : owner.light;
  return spotlight && spotlight !== owner.key && spotlight.startsWith(owner.key.slice(0, 5))
    ? `${color}30`
    : color;
};

// The key of the flow or link that the pointer is on in a legend: the others fade.
let spotlight = null;
const setSpotlight = (key) => {
  spotlight = key;
  document.dispatchEvent(new Event("recolor"));
};

const makeLegend = (entries, runs, view) => {
  const several = runs.length > 1;
  const keys = entries.map(({ owner }) => owner.key);
  const values = [];
  const chips = entries.map(({ run, owner, dash }) => {
    const value = element("output", { class: "value" });
    values.push(value);
    return element(
      "button",
      {
        type: "button",
        class: `chip${view.idle.has(owner.key) ? " idle" : ""}`,
        title: `${owner.label}${owner.about ? `: ${owner.about}` : ""}\nClick to hide or show, with Shift to show it alone.`,
        style: `--light:${owner.light};--dark:${owner.dark}`,
        "data-key": owner.key,
        onclick: (event) => view.toggle(owner.key, event.shiftKey, keys),
        onmouseenter: () => setSpotlight(owner.key),
        onmouseleave: () => setSpotlight(null),
      },
      element("i", { class: dash.length || owner.dashed ? "dashed" : "" }),
      several ? `${owner.label} · ${run.name}` : owner.label,
      value,
    );
  });
  const idle = entries.filter(({ owner }) => view.idle.has(owner.key)).length;
  const box = element("div", { class: "legend", role: "group", "aria-label": "Legend" }, ...chips);
  if (idle) {
    const words = (open) => (open ? "Fewer" : `${idle} more`);
    const more = element(
      "button",
      { type: "button", class: "quiet more", "aria-expanded": "false" },
      words(false),
    );
    more.onclick = () => {
      more.textContent = words(box.classList.toggle("all"));
      more.setAttribute("aria-expanded", box.classList.contains("all"));
    };
    box.append(more);
  }
  const renew = () => {
    for (const chip of chips) chip.setAttribute("aria-pressed", !view.hidden.has(chip.dataset.key));
  };
  renew();
  view.on("shown", renew);
  return { element: box, show: (i, value) => (values[i].value = number(value, 4)) };
};
