import type { ComponentChildren } from 'preact';

interface DataTableProps {
  readonly label: string;
  readonly columns: readonly string[];
  /** Columns with numbers, which are aligned to the right. */
  readonly numbers?: readonly string[];
  readonly class?: string;
  readonly children: ComponentChildren;
}

interface FactsProps {
  readonly facts: readonly (readonly [name: string, value: ComponentChildren])[];
  /** `facts`: side by side; `figures-row`: side by side and large; `values`: one per line. */
  readonly look?: 'facts' | 'figures-row' | 'values';
}

/** A list of facts, without those that have no value. */
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

/** A table that scrolls sideways if it is too wide. */
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
