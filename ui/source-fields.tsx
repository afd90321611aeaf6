import type { ExplainedRow } from '../src/ui/ui-types.ts';

type Source = NonNullable<ExplainedRow['source']>;

/** A row beside the record that the source sends now: what differs, and how much is equal. */
export function SourceFields({ source: { request, fields } }: { readonly source: Source }) {
  if (fields === null) return <p class="note warn">The source has no record with this key now: {request}</p>;
  const others = fields.filter(({ state }) => state !== 'equal');
  const equal = fields.length - others.length;
  return (
    <div class="scroll" role="region" aria-label="Comparison with the source" tabIndex={0}>
      <p class="soft">
        <code>{request}</code>: {equal} {equal === 1 ? 'field is' : 'fields are'} equal
        {others.length > 0 && `, ${others.length} are not`}
      </p>
      {others.length > 0 && (
        <table class="source-fields">
          <thead>
            <tr>
              <th scope="col">field</th>
              <th scope="col">state</th>
              <th scope="col">row</th>
              <th scope="col">source</th>
            </tr>
          </thead>
          <tbody>
            {others.map(({ name, state, stored, sent, note }) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td>
                  <span class={`state ${state === 'differs' && note === null ? 'quarantined' : 'part'}`}>{state}</span>
                </td>
                <td class="mono">{stored}</td>
                <td class="mono">
                  {sent} {note !== null && <span class="soft">{note}</span>}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  );
}
