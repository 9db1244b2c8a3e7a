// <ul data-sections> of links to the parts of a page: marks the part that is being read.
export function sections(root) {
  const list = root.querySelector("[data-sections]");
  if (!list) return;
  const links = [...list.querySelectorAll("a")];
  const parts = links.map((link) => document.querySelector(link.hash));
  const mark = () => {
    const atEnd = scrollY > 0 && innerHeight + scrollY > document.documentElement.scrollHeight - 4;
    const read = atEnd
      ? parts.length - 1
      : parts.findLastIndex((part) => part.getBoundingClientRect().top < innerHeight / 3);
    links.forEach((link, place) => {
      if (place === Math.max(read, 0)) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    });
  };
  addEventListener("scroll", mark, { passive: true });
  mark();
}
