import type { ComponentChildren } from 'preact';

interface DataTableProps {
  readonly label: string;
  readonly columns: readonly string[];
  /** Those of the columns that hold numbers. */
  readonly numbers?: readonly string[];
  readonly class?: string;
  /** Its rows. */
  readonly children: ComponentChildren;
}

/** A table that scrolls by itself where it is too wide. */
export function DataTable({ label, columns, numbers = [], class: look, children }: DataTableProps) {
  return (
    <div class="scroll" role="region" aria-label={label} tabIndex={0}>
      <table class={look}>
        <thead>
          <tr>
            {columns.map((name) => (
              <th key={name} scope="col" class={numbers.includes(name) ? 'number' : undefined}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
