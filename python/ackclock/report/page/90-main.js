// Puts the page together.

const start = async () => {
  const { page, arrays } = await unpack(document.getElementById("data").textContent);
  const runs = page.runs.map((about, number) => ({ ...makeRun(about, arrays, page), number }));
  makeStage(document.getElementById("stage"), runs, page.units);
  document.documentElement.dataset.ready = "";
};

addThemes();
start().catch((error) => {
  const words = `This report could not be drawn: ${error.message}. It needs a browser of 2023 or later.`;
  document
    .getElementById("stage")
    .replaceChildren(element("p", { class: "card empty", role: "alert" }, words));
});
