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

interface FactsProps {
  readonly facts: readonly (readonly [name: string, value: ComponentChildren])[];
  /** Side by side, the same in large, or a line each. Default: side by side. */
  readonly look?: 'facts' | 'figures-row' | 'values';
}

/** A list of facts; those without a value are left out. */
export function Facts({ facts, look = 'facts' }: FactsProps) {
  const known = facts.filter(([, value]) => value !== undefined && value !== null && value !== '');
  return (
    <dl class={look}>
      {known.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
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
