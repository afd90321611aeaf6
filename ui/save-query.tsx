import { useState } from 'preact/hooks';
import { asError, post } from './api.ts';
import { Failed } from './notes.tsx';

interface SaveQueryProps {
  /** Content of the file. */
  readonly sql: string;
  readonly label: string;
  readonly onSaved?: () => void;
}

/** Asks for a name and saves a query into the folder of the project. */
export function SaveQuery({ sql, label, onSaved }: SaveQueryProps) {
  const [isOpen, setOpen] = useState(false);
  const [name, setName] = useState('');
  const [saved, setSaved] = useState<string>();
  const [error, setError] = useState<Error>();
  const save = async (): Promise<void> => {
    try {
      await post('/api/saved', { name, sql }, new AbortController().signal);
      setSaved(name);
      setOpen(false);
      setError(undefined);
      onSaved?.();
    } catch (fault) {
      setError(asError(fault));
    }
  };
  if (!isOpen)
    return (
      <>
        <button type="button" disabled={sql.trim() === ''} onClick={() => setOpen(true)}>
          {label}
        </button>
        {saved !== undefined && (
          <span class="soft" role="status">
            saved as {saved}.sql
          </span>
        )}
      </>
    );
  return (
    <form
      class="save"
      onKeyDown={(event) => event.key === 'Escape' && setOpen(false)}
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <input
        aria-label="Name of the query"
        placeholder="name"
        value={name}
        ref={(input) => input?.focus()}
        onInput={(event) => setName(event.currentTarget.value)}
      />
      <button type="submit" disabled={name === ''}>
        Save
      </button>
      {error !== undefined && <Failed error={error} />}
    </form>
  );
}
