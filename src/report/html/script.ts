/**
 * Sorts a table by the ranks in its cells, ascending first, then descending; rows without value stay last. The buttons in the
 * headings make it work by keyboard. Without it the page is whole, but for the sorting.
 */
export const pageScript = `
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
