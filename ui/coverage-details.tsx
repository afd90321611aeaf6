import { formatCount } from '../src/core/format.ts';
import type { BlockSpan, CellDetail } from '../src/ui/ui-types.ts';
import { Command } from './copy-button.tsx';
import { DataTable, Facts } from './data-table.tsx';
import { Failed } from './notes.tsx';
import { timeText } from './times.ts';
import { useRequest } from './use-request.ts';

/** A chosen cell. */
export interface Chosen extends BlockSpan {
  readonly pipeline: string;
}

interface CellDetailsProps {
  readonly chosen: Chosen;
  readonly version: number;
  readonly onClose: () => void;
}

/** Entries and evidence of some blocks, and the command that fetches what is missing. */
export function CellDetails({ chosen: { pipeline, from, to }, version, onClose }: CellDetailsProps) {
  const path = `/api/coverage/${encodeURIComponent(pipeline)}?${new URLSearchParams({ from: String(from), to: String(to) })}`;
  const { value: detail, error } = useRequest<CellDetail>(path, { version });
  return (
    <section class="details" aria-label="Chosen blocks">
      <header>
        <h2>
          {pipeline} <span class="figure">{from === to ? from : `${from} to ${to}`}</span>
        </h2>
        <button type="button" class="plain" onClick={onClose} aria-label="Close details">
          ✕
        </button>
      </header>
      {error !== undefined && <Failed error={error} />}
      {detail !== undefined && (
        <>
          <Facts
            facts={[
              ['proven', detail.proven],
              ['unproven', detail.unproven],
              ['missing', detail.missing],
              ['days', detail.days.join(', ')],
            ]}
          />
          {detail.fill !== null && <Command text={detail.fill} />}
          <Entries detail={detail} />
        </>
      )}
    </section>
  );
}

function Entries({ detail: { entries, entryCount } }: { readonly detail: CellDetail }) {
  if (entries.length === 0) return <p class="soft">No ledger entry has these blocks.</p>;
  return (
    <>
      {entryCount > entries.length && (
        <p class="soft">
          The newest {entries.length} of {formatCount(entryCount)} entries.
        </p>
      )}
      <DataTable
        label="Ledger entries"
        class="stack"
        columns={['entry', 'blocks', 'proof', 'evidence', 'requests', 'committed']}
        numbers={['entry', 'requests']}
      >
        {entries.map((entry) => (
          <tr key={entry.number}>
            <td class="number" data-label="entry">
              {entry.number}
            </td>
            <td class="figure">{entry.spans}</td>
            <td>{entry.proof}</td>
            <td>
              {entry.evidence.map(({ table, rows, keyHash }) => (
                <div key={table} class="figure" title={`hash of the keys: ${keyHash}`}>
                  {table} {formatCount(rows)}
                </div>
              ))}
            </td>
            <td class="number" data-label="requests">
              {formatCount(entry.requests)}
              {entry.retries > 0 && <span class="soft"> ({formatCount(entry.retries)} retries)</span>}
            </td>
            <td class="figure">{timeText(entry.committedAt)}</td>
          </tr>
        ))}
      </DataTable>
    </>
  );
}
