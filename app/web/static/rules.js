// Search as you type: asks for the list of hits alone, a moment after the last key. Without
// this script the form is sent as any other.
"use strict";

for (const form of document.querySelectorAll("form[data-live]")) {
  const hits = document.getElementById(form.dataset.live);
  const pause = 180;
  let timer;
  let running;

  const ask = async () => {
    running?.abort();
    running = new AbortController();
    const query = new URLSearchParams(new FormData(form));
    if (!query.get("q").trim()) {
      hits.replaceChildren();
      return;
    }
    try {
      const answer = await fetch(`${form.action}?${query}&part=hits`, { signal: running.signal });
      if (!answer.ok) return;
      hits.innerHTML = await answer.text();
      if (location.pathname === new URL(form.action).pathname) history.replaceState(null, "", `?${query}`);
    } catch (error) {
      if (error.name !== "AbortError") throw error;
    }
  };

  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(ask, pause);
  });
}
