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

/** What is known of a thing; facts without a text are left out. */
export function Facts({ facts }: { readonly facts: readonly (readonly [string, string | null | undefined])[] }) {
  const known = facts.filter(([, text]) => text !== undefined && text !== null && text !== '');
  return (
    <dl class="facts">
      {known.map(([name, text]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{text}</dd>
        </div>
      ))}
    </dl>
  );
}

interface TabsProps<T extends string> {
  readonly label: string;
  readonly names: readonly T[];
  readonly chosen: T;
  readonly onChoose: (name: T) => void;
}

export function Tabs<T extends string>({ label, names, chosen, onChoose }: TabsProps<T>) {
  return (
    <div class="tabs" role="tablist" aria-label={label}>
      {names.map((name) => (
        <button key={name} type="button" role="tab" aria-selected={name === chosen} onClick={() => onChoose(name)}>
          {name}
        </button>
      ))}
    </div>
  );
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
