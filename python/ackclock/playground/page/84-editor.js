// The text of the scenario, with what is wrong with it on its line.

class Editor {
  constructor(onchange) {
    this.area = element("textarea", {
      spellcheck: "false",
      autocapitalize: "off",
      autocomplete: "off",
      wrap: "off",
      "aria-label": "Scenario as YAML",
      oninput: () => {
        this.draw();
        onchange();
      },
    });
    this.behind = element("div", { class: "behind", "aria-hidden": "true" });
    this.list = element("ul", { class: "problems", role: "status" });
    this.problems = [];
    this.element = element(
      "div",
      {},
      element(
        "div",
        { class: "editor" },
        element("div", { class: "sheet" }, this.behind, this.area),
      ),
      this.list,
    );
  }

  get text() {
    return this.area.value;
  }

  set text(text) {
    this.area.value = text;
    this.draw();
  }

  show(problems, warnings) {
    this.problems = [...problems, ...warnings.map((entry) => ({ ...entry, warning: true }))];
    this.draw();
    this.list.replaceChildren(
      ...this.problems.map((problem) => {
        const place = problem.line ? `Line ${problem.line}: ` : "";
        const more = [
          problem.allowed && `Allowed: ${problem.allowed}`,
          problem.hint && `Hint: ${problem.hint}`,
        ];
        return element(
          "li",
          { class: problem.warning ? "warning" : "error" },
          element(
            "button",
            { type: "button", class: "problem", onclick: () => this.go(problem) },
            element(
              "b",
              {},
              `${place}${problem.path ? `${problem.path}: ` : ""}${problem.message}`,
            ),
          ),
          ...more.filter(Boolean).map((line) => element("p", { class: "faint" }, line)),
        );
      }),
    );
  }

  focus() {
    this.element.scrollIntoView({ behavior: still.matches ? "auto" : "smooth", block: "center" });
    this.area.focus({ preventScroll: true });
  }

  // To the place of a problem.
  go({ line, column }) {
    if (!line) return;
    const at = offsetOf(this.text, [line, column ?? 1]);
    this.area.focus();
    this.area.setSelectionRange(at, endOf(this.text, at));
  }

  draw() {
    const lines = this.text.split("\n");
    const widest = Math.max(40, ...lines.map((line) => line.length));
    this.area.rows = lines.length;
    this.area.style.width = `calc(${widest + 2}ch + 4.6em)`;
    this.behind.replaceChildren(
      ...lines.map((line, i) => {
        const here = this.problems.filter((problem) => problem.line === i + 1);
        if (!here.length) return element("div", { class: "line" });
        const wrong = here.some((problem) => !problem.warning);
        return element(
          "div",
          { class: `line ${wrong ? "wrong" : "doubtful"}` },
          element("span", { class: "ghost" }, line || " "),
          element("em", {}, here.map((problem) => problem.message).join("; ")),
        );
      }),
    );
  }
}
