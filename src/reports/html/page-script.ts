import { createHash } from 'node:crypto';

/** Sorts a table by the ranks of its cells, first ascending, then descending; rows without a value stay last. */
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

/** Adds a copy button to each address and hash. Insecure pages have no clipboard API, so the text is selected and copied there. */
const copying = `
for (const text of document.querySelectorAll('.copied')) {
  const button = document.createElement('button');
  const show = (isDone) => {
    button.classList.toggle('done', isDone);
    button.setAttribute('aria-label', isDone ? 'Copied' : 'Copy ' + text.textContent);
  };
  button.type = 'button';
  button.className = 'copy';
  show(false);
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(text.textContent);
    } catch {
      getSelection().selectAllChildren(text);
      document.execCommand('copy');
    }
    show(true);
    setTimeout(show, 1500, false);
  });
  text.after(button);
}
`;

/** Shows below a table how many columns are hidden. */
const hinting = `
const sizes = new ResizeObserver((entries) => entries.forEach(({ target }) => target.update()));
for (const box of document.querySelectorAll('.scroll')) {
  const hint = document.createElement('p');
  hint.className = 'note hint';
  box.after(hint);
  box.update = () => {
    const end = box.getBoundingClientRect().right;
    const hidden = [...box.querySelectorAll('thead th')].filter((head) => head.getBoundingClientRect().right > end + 8);
    hint.hidden = hidden.length === 0;
    hint.textContent = 'Scroll sideways: ' + hidden.length + (hidden.length === 1 ? ' more column →' : ' more columns →');
  };
  box.addEventListener('scroll', box.update);
  sizes.observe(box);
}
`;

/** The script of the page. Sort buttons work by keyboard; without scripts, the page is still complete. */
export const pageScript = sorting + copying + hinting;

/** Its source expression in a Content-Security-Policy. */
export const pageScriptSource = `'sha256-${createHash('sha256').update(pageScript).digest('base64')}'`;
