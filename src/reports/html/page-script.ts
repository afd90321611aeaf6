/** Sorts a table by the ranks in its cells, ascending first, then descending; rows without value stay last. */
const sorting = `
for (const table of document.querySelectorAll('table.sortable')) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => head.querySelector('button').addEventListener('click', () => {
    const isDown = head.getAttribute('aria-sort') === 'ascending';
    for (const other of heads) other.setAttribute('aria-sort', 'none');
    head.setAttribute('aria-sort', isDown ? 'descending' : 'ascending');
    const body = table.tBodies[0];
    const rankOf = (row) => row.cells[column].dataset.rank;
    const rows = [...body.rows].sort((a, b) => {
      const [x, y] = [rankOf(a), rankOf(b)];
      if (x === '' || y === '') return (x === '' ? 1 : 0) - (y === '' ? 1 : 0);
      return isDown ? y - x : x - y;
    });
    body.append(...rows);
  }));
}
`;

/** A button beside each address and hash. Pages that are not secure have no clipboard, so the text is selected there and copied as before. */
const copying = `
for (const text of document.querySelectorAll('.copied')) {
  const button = document.createElement('button');
  const tell = (isDone) => {
    button.classList.toggle('done', isDone);
    button.setAttribute('aria-label', isDone ? 'Copied' : 'Copy ' + text.textContent);
  };
  button.type = 'button';
  button.className = 'copy';
  tell(false);
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(text.textContent);
    } catch {
      getSelection().selectAllChildren(text);
      document.execCommand('copy');
    }
    tell(true);
    setTimeout(tell, 1500, false);
  });
  text.after(button);
}
`;

/** Says below a box how many columns stand outside of it. */
const hinting = `
const sizes = new ResizeObserver((entries) => entries.forEach(({ target }) => target.tell()));
for (const box of document.querySelectorAll('.scroll')) {
  const hint = document.createElement('p');
  hint.className = 'note hint';
  box.after(hint);
  box.tell = () => {
    const end = box.getBoundingClientRect().right;
    const hidden = [...box.querySelectorAll('thead th')].filter((head) => head.getBoundingClientRect().right > end + 8);
    hint.hidden = hidden.length === 0;
    hint.textContent = 'Scroll sideways: ' + hidden.length + (hidden.length === 1 ? ' more column →' : ' more columns →');
  };
  box.addEventListener('scroll', box.tell);
  sizes.observe(box);
}
`;

/** What the page does by itself. The buttons of the headings work by keyboard; without scripts the page is whole all the same. */
export const pageScript = sorting + copying + hinting;
