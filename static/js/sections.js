// <ul data-sections> of links to the parts of a page: marks the part that is being read.
export function setUpSections(root) {
  const list = root.querySelector("[data-sections]");
  if (!list) return;
  const links = [...list.querySelectorAll("a")];
  const headings = links.map((link) => document.querySelector(link.hash));
  const markCurrent = () => {
    const atEnd = scrollY > 0 && innerHeight + scrollY > document.documentElement.scrollHeight - 4;
    const current = atEnd
      ? headings.length - 1
      : headings.findLastIndex((heading) => heading.getBoundingClientRect().top < innerHeight / 3);
    links.forEach((link, index) => {
      if (index === Math.max(current, 0)) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    });
  };
  addEventListener("scroll", markCurrent, { passive: true });
  markCurrent();
}
