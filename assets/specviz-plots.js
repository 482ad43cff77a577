// Plotly follows the window only while a figure is on screen. One that was drawn on a wide page, and
// comes back from a hidden tab into a narrow one, is told its new width here.

function svFollowPlots() {
  if (!document.querySelector(".gradio-container")) return;
  const seen = new WeakSet();
  const sizes = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      const drawn = target.querySelector(".main-svg");
      const off = drawn && target.clientWidth && Math.abs(drawn.clientWidth - target.clientWidth) > 2;
      if (off && window.Plotly) window.Plotly.Plots.resize(target);
    }
  });
  const look = (tabs) => {
    for (const plot of tabs.querySelectorAll(".js-plotly-plot")) {
      if (seen.has(plot)) continue;
      seen.add(plot);
      sizes.observe(plot);
    }
  };
  const begin = () => {
    const tabs = document.querySelector(".sv-tabs");
    if (!tabs) {
      setTimeout(begin, 300); // the tabs are mounted a moment after the viewer
      return;
    }
    new MutationObserver(() => look(tabs)).observe(tabs, { childList: true, subtree: true });
    look(tabs);
  };
  begin();
}
svFollowPlots();
